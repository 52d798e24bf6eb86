//! The operations, as methods of [`Solver`](crate::Solver).

mod geqrf;
mod gels;
mod gesvd;
mod getrf;
mod potrf;
mod syevd;
