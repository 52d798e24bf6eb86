//! BLAS levels 1 to 3 on hip-safe's memory: rocBLAS, or what stands in its place on other platforms.
