//! The operations, as methods of [`Solver`](crate::Solver).

mod gels;
mod geqrf;
mod gesvd;
mod getrf;
mod potrf;
mod syevd;
