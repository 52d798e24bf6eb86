//! What changes in candle-nn 0.11.1: its custom operations get a forward function for HIP devices.

use crate::file::Edit;
use crate::tree::Tree;

/// Edits the files of candle-nn.
pub fn edit(tree: &mut Tree) -> Edit {
    tree.edit("src/ops.rs", |file| {
        for (operation, of, arguments) in [
            ("Sigmoid", 1, "sigmoid(s1, l1)"),
            ("SoftmaxLastDim", 1, "softmax_last_dim(s1, l1)"),
            ("RmsNorm", 2, "rms_norm(s1, l1, s2, l2, self.eps)"),
            ("LayerNorm", 3, "layer_norm((s1, l1), (s2, l2), (s3, l3), self.eps)"),
        ] {
            let head = format!("impl candle::CustomOp{of} for {operation} ");
            file.inside_item(&head, &forward(of, arguments))?;
        }
        file.inside_item("impl candle::CustomOp3 for Sdpa ", SDPA)
    })?;
    tree.edit("src/rotary_emb.rs", |file| {
        for (operation, name) in
            [("RotaryEmb", "rope"), ("RotaryEmbI", "rope_i"), ("RotaryEmbThd", "rope_thd")]
        {
            let head = format!("impl candle::CustomOp3 for {operation} ");
            file.inside_item(&head, &forward(3, &format!("{name}((s1, l1), (s2, l2), (s3, l3))")))?;
        }
        Ok(())
    })?;
    tree.edit("Cargo.toml", |file| {
        file.after_line(
            "[features]",
            "hip-host = [\"candle/hip-host\"]\nhip-nvidia = [\"candle/hip-nvidia\"]",
        )
    })
}

/// A forward function of so many operands that calls one of the backend's module `nn`.
fn forward(operands: usize, call: &str) -> String {
    let mut text = "fn hip_fwd(\n    &self,\n".to_owned();
    for operand in 1..=operands {
        text += &format!("    s{operand}: &candle::HipStorage,\n    l{operand}: &Layout,\n");
    }
    text + &format!(") -> Result<(candle::HipStorage, Shape)> {{\n    candle::hip_backend::nn::{call}\n}}\n")
}

const SDPA: &str = "\
fn hip_fwd(
    &self,
    s1: &candle::HipStorage,
    l1: &Layout,
    s2: &candle::HipStorage,
    l2: &Layout,
    s3: &candle::HipStorage,
    l3: &Layout,
) -> Result<(candle::HipStorage, Shape)> {
    if self.softcapping != 1.0 {
        candle::bail!(\"sdpa on HIP devices has no softcapping\")
    }
    let mask = self.mask.as_ref().map(|mask| (mask.storage_and_layout().0, mask.layout()));
    let mask = match &mask {
        None => None,
        Some((storage, layout)) => match &**storage {
            candle::Storage::Hip(storage) => Some((storage, *layout)),
            _ => candle::bail!(\"sdpa: the mask is not on the HIP device\"),
        },
    };
    let (q, k, v) = ((s1, l1), (s2, l2), (s3, l3));
    candle::hip_backend::nn::sdpa(q, k, v, mask, self.do_causal, self.scale)
}
";
