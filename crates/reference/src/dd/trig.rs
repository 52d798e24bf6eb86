//! Sine, cosine and tangent of an `f64` of any size, in double-double precision.

use super::Dd;
use super::exp::INVERSE_FACTORIALS;
use super::pi_bits::TWO_OVER_PI;

const PI_OVER_2: Dd = Dd::parts(std::f64::consts::FRAC_PI_2, 6.123233995736766e-17);

impl Dd {
    /// Sine; NaN for infinities.
    pub fn sin_of(x: f64) -> Dd {
        let (quadrant, r) = reduce(x);
        let value = if quadrant & 1 == 0 { sin_small(r) } else { cos_small(r) };
        if quadrant & 2 == 0 { value } else { -value }
    }

    /// Cosine; NaN for infinities.
    pub fn cos_of(x: f64) -> Dd {
        let (quadrant, r) = reduce(x);
        let value = if quadrant & 1 == 0 { cos_small(r) } else { sin_small(r) };
        if (quadrant + 1) & 2 == 0 { value } else { -value }
    }

    /// Tangent; NaN for infinities.
    pub fn tan_of(x: f64) -> Dd {
        let (quadrant, r) = reduce(x);
        if quadrant & 1 == 0 { sin_small(r) / cos_small(r) } else { -(cos_small(r) / sin_small(r)) }
    }
}

/// n modulo 4 and r, where x = n·π/2 + r and |r| ≤ π/4.
fn reduce(x: f64) -> (u32, Dd) {
    if !x.is_finite() {
        return (0, Dd::from(f64::NAN));
    }
    if x.abs() <= std::f64::consts::FRAC_PI_4 {
        return (0, Dd::from(x));
    }
    let (quadrant, fraction) = quarter_turns(x.abs());
    let r = fraction * PI_OVER_2;
    if x > 0.0 { (quadrant, r) } else { (quadrant.wrapping_neg() & 3, -r) }
}

/// The nearest integer to x·2/π, modulo 4, and the remainder, for a normal x > π/4. Uses integers only: x is m·2^e, and
/// the digits of 2/π whose product with x is a multiple of 4 are skipped.
fn quarter_turns(x: f64) -> (u32, Dd) {
    let bits = x.to_bits();
    let m = bits & ((1 << 52) - 1) | 1 << 52;
    let e = (bits >> 52) as i32 - 1075;
    let skipped = (e - 2).max(0);
    let window = digits(skipped as usize);

    // product = m · window, least significant word first. Its unit is 2^-point.
    let mut product = [0u64; 6];
    let mut carry = 0u128;
    for (word, digit) in product.iter_mut().zip(window.iter().rev()) {
        carry += u128::from(m) * u128::from(*digit);
        *word = carry as u64;
        carry >>= 64;
    }
    product[5] = carry as u64;
    let point = (320 - (e - skipped)) as u32;

    let mut whole = (bits_from(&product, point) & 3) as u32;
    let mut negative = false;
    if bits_from(&product, point - 1) & 1 == 1 {
        // The fraction is a half or more: round up, and use the negative remainder.
        whole = (whole + 1) & 3;
        negative = true;
        for word in &mut product {
            *word = !*word;
        }
    }
    // The digits below the point, from the top, 32 at a time: each piece is an exact f64. (The complement is off by one
    // unit of the last place, 2^-318, which does not matter.)
    let mut fraction = Dd::ZERO;
    let mut position = point as i32;
    while position > 0 {
        let width = position.min(32) as u32;
        position -= width as i32;
        let piece = bits_from(&product, position as u32) & ((1 << width) - 1);
        fraction = fraction + Dd::from(piece as f64 * crate::round::power_of_two(position - point as i32));
    }
    (whole, if negative { -fraction } else { fraction })
}

/// 320 digits of 2/π after the first `skipped`, most significant word first.
fn digits(skipped: usize) -> [u64; 5] {
    let (word, shift) = (skipped / 64, skipped % 64);
    std::array::from_fn(|i| {
        let high = TWO_OVER_PI[word + i] << shift;
        if shift == 0 { high } else { high | TWO_OVER_PI[word + i + 1] >> (64 - shift) }
    })
}

/// The 64 bits from `position` on of a number stored least significant word first.
fn bits_from(words: &[u64; 6], position: u32) -> u64 {
    let (word, shift) = ((position / 64) as usize, position % 64);
    let low = words.get(word).map_or(0, |w| w >> shift);
    let high = words.get(word + 1).map_or(0, |w| if shift == 0 { 0 } else { w << (64 - shift) });
    low | high
}

/// Sine by its Taylor series, for |r| ≤ π/4.
fn sin_small(r: Dd) -> Dd {
    let square = r * r;
    let mut series = Dd::ZERO;
    for n in (1..=27).rev().step_by(2) {
        let term = INVERSE_FACTORIALS[n];
        series = series * square + if n % 4 == 1 { term } else { -term };
    }
    // The series starts with 1, so that for a tiny r the product is r itself.
    series * r
}

/// Cosine by its Taylor series, for |r| ≤ π/4.
fn cos_small(r: Dd) -> Dd {
    let square = r * r;
    let mut series = Dd::ZERO;
    for n in (0..=28).rev().step_by(2) {
        let term = INVERSE_FACTORIALS[n];
        series = series * square + if n % 4 == 0 { term } else { -term };
    }
    series
}
