//! The program behind `cargo xtask`; everything is in the library beside it.

fn main() -> std::process::ExitCode {
    xtask::main()
}
