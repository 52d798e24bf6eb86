//! The report's page in a browser: what it shows, and what clicks, keys and filters do.
//!
//! The browser is Chromium without a window (Debian's package `chromium`). The tests append a script to a copy of the
//! page, which acts as a reader would, and writes what it saw into the document; then they read the document. Without
//! Chromium they print a message and pass, unless HIPSTACK_REQUIRE contains the word chromium.

mod browser;
mod comparison;
mod run;
