//! Nothing but tests. They are a package of their own because trybuild builds everything that a package's tests depend on once more:
//! here that is hip-safe alone, and neither hip-host nor the kernels that hip-safe's other tests need.
