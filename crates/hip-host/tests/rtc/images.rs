//! Images.
