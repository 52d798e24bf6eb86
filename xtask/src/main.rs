//! The program behind `cargo xtask`; all code is in the library.

fn main() -> std::process::ExitCode {
    xtask::main()
}
