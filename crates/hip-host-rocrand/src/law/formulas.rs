//! rocRAND's formulas, with its constants.

const POW16_INV: f32 = 1.0 / 65_536.0;
const POW32_INV: f32 = 1.0 / 4_294_967_296.0;
const POW53_INV: f64 = 1.0 / 9_007_199_254_740_992.0;
/// 2 pi / 2^32, rounded as rocRAND rounds it.
const TURN: f32 = 1.462_918_1e-9;

/// A word, for the distributions that take one word for each output.
pub(crate) trait Word: Copy {
    /// In [0, 1).
    fn unit(self) -> f64;
    /// In (0, 1].
    fn uniform32(self) -> f32;
    /// In (0, 1].
    fn uniform64(self) -> f64;
    /// The bits of a uniform f16.
    fn uniform16(self) -> u16;
    /// As many of its highest bits.
    fn top<T: From32 + From64>(self) -> T;
}

/// The highest bits of a word of 32.
pub(crate) trait From32 {
    fn from32(word: u32) -> Self;
}

/// The highest bits of a word of 64.
pub(crate) trait From64 {
    fn from64(word: u64) -> Self;
}

macro_rules! top {
    ($($T:ty)*) => {$(
        impl From32 for $T {
            fn from32(word: u32) -> Self {
                (word >> (u32::BITS - <$T>::BITS)) as Self
            }
        }
        impl From64 for $T {
            fn from64(word: u64) -> Self {
                (word >> (u64::BITS - <$T>::BITS)) as Self
            }
        }
    )*};
}

top!(u8 u16 u32);

impl Word for u32 {
    fn unit(self) -> f64 {
        f64::from(self) / 4_294_967_296.0
    }
    fn uniform32(self) -> f32 {
        POW32_INV + self as f32 * POW32_INV
    }
    fn uniform64(self) -> f64 {
        let step = f64::from(POW32_INV);
        step + f64::from(self) * step
    }
    fn uniform16(self) -> u16 {
        half_of((self >> 16) as u16)
    }
    fn top<T: From32 + From64>(self) -> T {
        T::from32(self)
    }
}

impl Word for u64 {
    fn unit(self) -> f64 {
        self as f64 / 18_446_744_073_709_551_616.0
    }
    fn uniform32(self) -> f32 {
        ((self >> 32) as u32).uniform32()
    }
    fn uniform64(self) -> f64 {
        POW53_INV + (self >> 11) as f64 * POW53_INV
    }
    fn uniform16(self) -> u16 {
        half_of((self >> 48) as u16)
    }
    fn top<T: From32 + From64>(self) -> T {
        T::from64(self)
    }
}

/// The bits of a uniform f16 in (0, 1].
pub(crate) fn half_of(bits: u16) -> u16 {
    half::f16::from_f32(POW16_INV + f32::from(bits) * POW16_INV).to_bits()
}

/// A uniform f64 in (0, 1] from two words, of which the second gives 21 bits.
pub(crate) fn uniform64_of([low, high]: [u32; 2]) -> f64 {
    let bits = u64::from(low) | u64::from(high >> 11) << 32;
    POW53_INV + bits as f64 * POW53_INV
}

/// Two standard normal numbers, by the method of G. Box and M. Muller.
pub(crate) fn box_muller32([radius, angle]: [u32; 2]) -> [f32; 2] {
    polar32(radius.uniform32(), TURN + angle as f32 * TURN)
}

/// As [`box_muller32`], from a uniform number and an angle.
pub(crate) fn polar32(uniform: f32, angle: f32) -> [f32; 2] {
    let radius = (-2.0 * uniform.ln()).sqrt();
    [angle.sin() * radius, angle.cos() * radius]
}

/// As [`box_muller32`], from two words of each.
pub(crate) fn box_muller64([a, b, c, d]: [u32; 4]) -> [f64; 2] {
    let number = |low, high| u64::from(low) ^ u64::from(high) << 21;
    let uniform = POW53_INV + number(a, b) as f64 * POW53_INV;
    polar64(uniform, 2.0 * POW53_INV + number(c, d) as f64 * (2.0 * POW53_INV))
}

/// As [`polar32`]; the angle is in half turns.
pub(crate) fn polar64(uniform: f64, half_turns: f64) -> [f64; 2] {
    let radius = (-2.0 * uniform.ln()).sqrt();
    let angle = half_turns * std::f64::consts::PI;
    [angle.sin() * radius, angle.cos() * radius]
}

/// rocRAND's square root of two, of f32 in the formulas of f64 too.
const SQRT2: f32 = std::f32::consts::SQRT_2;
/// The parameter of S. Winitzki's approximation of the inverse of the error function.
const WINITZKI: f64 = 0.147;

/// A standard normal number from one word: an approximation of the inverse of the distribution, good to three digits.
pub(crate) fn inverse32(word: impl Word) -> f32 {
    let x = 2.0 * word.uniform32() - 1.0;
    let log = ((1.0 - x) * (1.0 + x)).ln();
    if log.is_nan() {
        return SQRT2;
    }
    if log.is_infinite() {
        return 0.0;
    }
    let a = WINITZKI as f32;
    let first = 2.0 / (std::f32::consts::PI * a) + 0.5 * log;
    let root = (-first + (first * first - 1.0 / a * log).sqrt()).sqrt();
    SQRT2 * if x < 0.0 { -root } else { root }
}

/// As [`inverse32`], in f64.
pub(crate) fn inverse64(word: impl Word) -> f64 {
    let x = 2.0 * word.uniform64() - 1.0;
    let log = ((1.0 - x) * (1.0 + x)).ln();
    if log.is_nan() {
        return SQRT2.into();
    }
    if log.is_infinite() {
        return 0.0;
    }
    let first = 2.0 / (std::f64::consts::PI * WINITZKI) + 0.5 * log;
    let root = (-first + (first * first - 1.0 / WINITZKI * log).sqrt()).sqrt();
    f64::from(SQRT2) * if x < 0.0 { -root } else { root }
}
