//! Streams: their end, events, priorities, functions on the host, and streams of other libraries.

mod end;
mod events;
mod foreign;
mod host_function;
mod in_host_function;
mod priority;
