//! How far the loading of a model is.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How far the loading of a model is, after each tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The tensor that was loaded last.
    pub name: &'a str,
    /// How many tensors are loaded.
    pub tensors: usize,
    /// How many there are.
    pub all_tensors: usize,
    /// The bytes loaded.
    pub bytes: u64,
    /// The bytes of all tensors.
    pub all_bytes: u64,
}

/// A function for [`Model::load`](crate::Model::load) that shows a bar on standard error, with bytes, speed and the time
/// that is left. Nothing is shown where standard error is no terminal.
///
/// ```no_run
/// use tensor_core::Device;
/// use weights::{Checkpoint, Model, progress_bar};
///
/// # fn main() -> tensor_core::Result<()> {
/// let checkpoint = Checkpoint::open("model.gguf")?;
/// let model = Model::load(&checkpoint, &Device::parse("host:0")?, &mut progress_bar())?;
/// # Ok(())
/// # }
/// ```
pub fn progress_bar() -> impl FnMut(Progress<'_>) {
    let style =
        ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta} {wide_msg}");
    let bar = ProgressBar::new(0).with_style(style.expect("the template is right"));
    bar.enable_steady_tick(Duration::from_millis(200));
    move |progress| {
        bar.set_length(progress.all_bytes);
        bar.set_position(progress.bytes);
        bar.set_message(progress.name.to_owned());
        if progress.tensors == progress.all_tensors {
            bar.finish_and_clear();
        }
    }
}
