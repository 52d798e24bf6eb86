//! A backtrace without the frames that say nothing of the program.

/// The frames of a printed backtrace from the first one outside this crate up to what started the program or the thread. All of it
/// if that leaves nothing.
pub(super) fn of_program(backtrace: &str) -> String {
    // A frame is a line "  7: name", then perhaps a line "at file:line:column".
    let mut frames: Vec<Vec<&str>> = Vec::new();
    for line in backtrace.lines() {
        let begins =
            line.trim_start().split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        match frames.last_mut() {
            Some(frame) if !begins => frame.push(line),
            _ => frames.push(vec![line]),
        }
    }
    let name = |frame: &Vec<&str>| frame[0].split_once(": ").map_or("", |(_, name)| name).to_owned();
    let ours = |frame: &Vec<&str>| {
        let name = name(frame);
        let name = name.trim_start_matches('<');
        ["hip_safe::", "std::backtrace", "core::", "backtrace_rs"].iter().any(|start| name.starts_with(start))
    };
    let first = frames.iter().position(|frame| !ours(frame)).unwrap_or(0);
    let end = |frame: &Vec<&str>| name(frame).contains("__rust_begin_short_backtrace");
    let count = frames[first..].iter().position(end).unwrap_or(frames.len() - first);
    let kept = if count == 0 { &frames[..] } else { &frames[first..first + count] };
    kept.iter().flatten().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_program_are_kept() {
        let text = "   0: std::backtrace_rs::backtrace::trace\n   1: std::backtrace::Backtrace::force_capture\n\
                    \x20  2: hip_safe::memory::check::live::Registration::list\n\
                    \x20  3: <hip_safe::stream::Stream>::alloc_zeros::<f32>\n             at src/buffer.rs:3:1\n\
                    \x20  4: model::load\n             at src/model.rs:7:5\n   5: hip_safe::later\n\
                    \x20  6: std::sys::backtrace::__rust_begin_short_backtrace\n   7: main\n";
        let found = of_program(text);
        assert_eq!(found, "   4: model::load\n             at src/model.rs:7:5\n   5: hip_safe::later\n");
        assert_eq!(of_program("disabled backtrace"), "disabled backtrace\n");
        assert_eq!(of_program(""), "");
    }

    #[test]
    fn a_backtrace_without_the_program_is_kept_whole() {
        let text = "   0: hip_safe::memory::buffer::new\n   1: std::sys::backtrace::__rust_begin_short_backtrace\n   2: main\n";
        assert_eq!(of_program(text), text);
    }
}
