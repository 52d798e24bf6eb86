//! Shapes of Llama models.

/// The numbers of one model.
pub struct Shape {
    /// What the command line calls it.
    pub name: &'static str,
    /// Numbers of one token's vector.
    pub width: usize,
    /// Layers.
    pub layers: usize,
    /// Numbers between the two products of a layer's second half.
    pub hidden: usize,
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and of values.
    pub kv_heads: usize,
    /// Tokens that there are.
    pub vocabulary: usize,
    /// Whether the output has the embedding's weight.
    pub tied: bool,
}

/// The base of the rotations' wavelengths.
pub const ROPE_BASE: f32 = 5e5;
/// What normalization adds to the mean square.
pub const NORM_EPSILON: f32 = 1e-5;

/// A small model to try the program, Llama 3.2 1B and Llama 3.1 8B.
const SHAPES: [Shape; 3] = [
    Shape {
        name: "tiny",
        width: 256,
        layers: 2,
        hidden: 512,
        heads: 4,
        kv_heads: 2,
        vocabulary: 512,
        tied: true,
    },
    Shape {
        name: "1b",
        width: 2048,
        layers: 16,
        hidden: 8192,
        heads: 32,
        kv_heads: 8,
        vocabulary: 128_256,
        tied: true,
    },
    Shape {
        name: "8b",
        width: 4096,
        layers: 32,
        hidden: 14_336,
        heads: 32,
        kv_heads: 8,
        vocabulary: 128_256,
        tied: false,
    },
];

/// The shape of a name.
///
/// # Errors
/// The names that there are.
pub fn named(name: &str) -> Result<&'static Shape, String> {
    let known = || SHAPES.map(|shape| shape.name).join(", ");
    SHAPES
        .iter()
        .find(|shape| shape.name == name)
        .ok_or_else(|| format!("{name}: the shapes are {}", known()))
}
