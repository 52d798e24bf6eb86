//! What an emulated device says it executed: a line for each launch.

/// A launch that was counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    /// The kernel's name.
    pub(super) kernel: String,
    /// Instructions that waves executed.
    pub(super) wave: u64,
    /// The same, each as often as the wave has lanes.
    pub(super) lane: u64,
}

/// Reads a line such as "…: kernel NAME: grid 2,1,1 block 256,1,1: 160 wave instructions, 5120 lane instructions". Other lines are none.
pub(super) fn launch(line: &str) -> Option<Launch> {
    let (_, rest) = line.split_once("kernel ")?;
    let (kernel, rest) = rest.split_once(": grid ")?;
    let (_, counts) = rest.rsplit_once(": ")?;
    let (wave, lane) = counts.split_once(" wave instructions, ")?;
    let lane = lane.strip_suffix(" lane instructions")?;
    Some(Launch { kernel: kernel.to_string(), wave: wave.parse().ok()?, lane: lane.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_launches_are_read() {
        let line = "emu: kernel elementwise_add_f32: grid 2,1,1 block 256,1,1: 160 wave instructions, 5120 lane instructions";
        let expected = Launch { kernel: "elementwise_add_f32".into(), wave: 160, lane: 5120 };
        assert_eq!(launch(line), Some(expected));
        for other in [
            "",
            "emu: kernel elementwise_add_f32: memory fault at 0x10: null pointer",
            "emu: kernel a: grid 2,1,1 block 256,1,1: many wave instructions, 5120 lane instructions",
            "emu: kernel a: grid 2,1,1 block 256,1,1: 160 wave instructions, 5120 lane instructions and more",
        ] {
            assert_eq!(launch(other), None, "{other}");
        }
    }
}
