//! What a plan transforms.

/// The direction of a complex transform: the sign of its exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `exp(-2 pi i j k / n)`.
    Forward,
    /// `exp(2 pi i j k / n)`.
    Inverse,
}

/// What is transformed into what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transform {
    /// Complex numbers into complex ones.
    Complex(Direction),
    /// Real numbers into complex ones, of which the last direction has the first half and the middle.
    RealForward,
    /// The inverse of that.
    RealInverse,
}

/// Where elements lie, in elements of that side: real or complex numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    /// From one to the next along each direction, in the order of the lengths.
    pub strides: Vec<usize>,
    /// From one transform of a batch to the next.
    pub distance: usize,
}

/// What a plan transforms. Without more it is one transform of contiguous numbers, from one piece of memory to another, not scaled.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    pub(crate) transform: Transform,
    pub(crate) lengths: Vec<usize>,
    pub(crate) batch: usize,
    pub(crate) in_place: bool,
    pub(crate) scale: f64,
    pub(crate) input: Option<Layout>,
    pub(crate) output: Option<Layout>,
}

impl Spec {
    /// A transform of complex numbers, of one to three lengths. The last is the fastest in memory.
    pub fn complex(direction: Direction, lengths: &[usize]) -> Self {
        Self::new(Transform::Complex(direction), lengths)
    }

    /// A transform of real numbers into complex ones. The lengths are those of the real side; of the last one, `n`, the complex side has
    /// `n / 2 + 1` numbers.
    pub fn real_forward(lengths: &[usize]) -> Self {
        Self::new(Transform::RealForward, lengths)
    }

    /// A transform of complex numbers into real ones: the inverse of [`Spec::real_forward`], with the same lengths.
    pub fn real_inverse(lengths: &[usize]) -> Self {
        Self::new(Transform::RealInverse, lengths)
    }

    fn new(transform: Transform, lengths: &[usize]) -> Self {
        let lengths = lengths.to_vec();
        Self { transform, lengths, batch: 1, in_place: false, scale: 1.0, input: None, output: None }
    }

    /// So many transforms, one behind the other unless a layout says otherwise.
    pub fn batch(mut self, count: usize) -> Self {
        self.batch = count;
        self
    }

    /// Results overwrite the input. Real numbers then lie in the memory of the complex ones: a row of `n` has room for
    /// `2 (n / 2 + 1)` of them. Layouts cannot be given.
    pub fn in_place(mut self) -> Self {
        self.in_place = true;
        self
    }

    /// Each result is multiplied by a factor. `1 / n` for `n` numbers normalises.
    #[doc(alias = "rocfft_plan_description_set_scale_factor")]
    pub fn scale(mut self, factor: f64) -> Self {
        self.scale = factor;
        self
    }

    /// Where the input lies.
    #[doc(alias = "rocfft_plan_description_set_data_layout")]
    pub fn input(mut self, layout: Layout) -> Self {
        self.input = Some(layout);
        self
    }

    /// Where the output lies. No two of its elements may have the same offset.
    pub fn output(mut self, layout: Layout) -> Self {
        self.output = Some(layout);
        self
    }
}
