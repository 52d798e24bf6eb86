//! The error codes that cases expect, as HIP numbers them.

pub(crate) const SUCCESS: u32 = 0;
pub(crate) const VALUE: u32 = 1;
pub(crate) const MEMORY: u32 = 2;
pub(crate) const PITCH: u32 = 12;
pub(crate) const DIRECTION: u32 = 21;
pub(crate) const NOT_A_FUNCTION: u32 = 98;
pub(crate) const DEVICE: u32 = 101;
pub(crate) const IMAGE: u32 = 200;
pub(crate) const LIMIT: u32 = 215;
pub(crate) const NO_FILE: u32 = 301;
pub(crate) const HANDLE: u32 = 400;
pub(crate) const NOT_FOUND: u32 = 500;
pub(crate) const NOT_READY: u32 = 600;
pub(crate) const PEER_ON: u32 = 704;
pub(crate) const PEER_OFF: u32 = 705;
pub(crate) const DESTROYED: u32 = 709;
pub(crate) const ALREADY_REGISTERED: u32 = 712;
pub(crate) const NOT_REGISTERED: u32 = 713;
