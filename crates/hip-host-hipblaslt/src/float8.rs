//! Floats of 8 bits: what each pattern means, and which pattern is nearest to a number.

use std::sync::LazyLock;

/// A format: with a sign bit, so many bits of the exponent, and the rest for the fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Float8 {
    /// OCP's E4M3: finite but for NaNs.
    E4M3,
    /// OCP's E5M2: with infinities, as IEEE's formats.
    E5M2,
    /// E4M3 of AMD's CDNA 3: without infinities and without a negative zero, whose pattern is the NaN.
    E4M3Fnuz,
    /// E5M2 of AMD's CDNA 3, likewise.
    E5M2Fnuz,
}

/// The value of every pattern, and the patterns of the finite values from zero on, which are in order.
struct Values {
    of: [f32; 256],
    largest: u8,
    nan: u8,
}

impl Float8 {
    /// Each format, at the index of its discriminant.
    pub(crate) const ALL: [Self; 4] = [Self::E4M3, Self::E5M2, Self::E4M3Fnuz, Self::E5M2Fnuz];

    /// The value of a pattern.
    pub(crate) fn decode(self, bits: u8) -> f32 {
        self.values().of[usize::from(bits)]
    }

    /// The values of all patterns.
    pub(crate) fn decoded(self) -> &'static [f32; 256] {
        &self.values().of
    }

    /// The nearest pattern, of two the even one. What is above the largest finite value, infinities included, becomes that.
    pub(crate) fn encode(self, value: f32) -> u8 {
        let Values { of, largest, nan } = self.values();
        if value.is_nan() {
            return *nan;
        }
        let finite = &of[..=usize::from(*largest)];
        let size = value.abs();
        // The first that is not below; patterns fit a byte.
        let above = finite.partition_point(|&known| known < size).min(finite.len() - 1);
        let below = above.saturating_sub(1);
        let middle = f64::midpoint(f64::from(finite[below]), f64::from(finite[above]));
        let wide = f64::from(size);
        let up = wide > middle || wide == middle && above.is_multiple_of(2);
        let index = if up { above } else { below };
        let negative = value.is_sign_negative() && (index != 0 || !self.is_fnuz());
        index as u8 | u8::from(negative) << 7
    }

    fn is_fnuz(self) -> bool {
        matches!(self, Self::E4M3Fnuz | Self::E5M2Fnuz)
    }

    fn values(self) -> &'static Values {
        static VALUES: LazyLock<[Values; 4]> = LazyLock::new(|| Float8::ALL.map(Float8::list));
        &VALUES[self as usize]
    }

    fn list(self) -> Values {
        let (fraction_bits, bias) = match self {
            Self::E4M3 => (3, 7),
            Self::E5M2 => (2, 15),
            Self::E4M3Fnuz => (3, 8),
            Self::E5M2Fnuz => (2, 16),
        };
        let value = |bits: u8| {
            let size = i32::from(bits & 0x7f);
            let special = match self {
                Self::E4M3 if size == 0x7f => Some(f32::NAN),
                Self::E5M2 if size == 0x7c => Some(f32::INFINITY),
                Self::E5M2 if size > 0x7c => Some(f32::NAN),
                Self::E4M3Fnuz | Self::E5M2Fnuz if bits == 0x80 => Some(f32::NAN),
                _ => None,
            };
            let (exponent, fraction) = (size >> fraction_bits, size & ((1 << fraction_bits) - 1));
            let unit = ((exponent.max(1) - bias - fraction_bits) as f32).exp2();
            let whole = if exponent == 0 { fraction } else { fraction | 1 << fraction_bits };
            let value = special.unwrap_or(whole as f32 * unit);
            if bits & 0x80 == 0 { value } else { -value }
        };
        let of = std::array::from_fn(|bits| value(bits as u8));
        let (largest, nan) = match self {
            Self::E4M3 => (0x7e, 0x7f),
            Self::E5M2 => (0x7b, 0x7f),
            Self::E4M3Fnuz | Self::E5M2Fnuz => (0x7f, 0x80),
        };
        Values { of, largest, nan }
    }
}

#[cfg(test)]
mod tests {
    use super::Float8::{self, E4M3, E4M3Fnuz, E5M2, E5M2Fnuz};

    /// From the formats' descriptions: OCP's of 2023, and AMD's of the fnuz kinds.
    #[test]
    fn values_of_the_descriptions() {
        for (format, one, largest, largest_bits, least) in [
            (E4M3, 0x38, 448.0, 0x7e, 2.0_f32.powi(-9)),
            (E5M2, 0x3c, 57344.0, 0x7b, 2.0_f32.powi(-16)),
            (E4M3Fnuz, 0x40, 240.0, 0x7f, 2.0_f32.powi(-10)),
            (E5M2Fnuz, 0x40, 57344.0, 0x7f, 2.0_f32.powi(-17)),
        ] {
            assert_eq!(format.decode(one), 1.0);
            assert_eq!(format.decode(largest_bits), largest);
            assert_eq!(format.decode(1), least);
            assert_eq!(format.decode(one | 0x80), -1.0);
            assert_eq!(format.encode(f32::INFINITY), largest_bits);
            assert_eq!(format.encode(-1e30), largest_bits | 0x80);
            assert!(format.decode(format.encode(f32::NAN)).is_nan());
        }
        assert_eq!(E5M2.decode(0x7c), f32::INFINITY);
        assert!(E4M3Fnuz.decode(0x80).is_nan());
        assert_eq!((E4M3.encode(-0.0), E4M3Fnuz.encode(-0.0)), (0x80, 0));
    }

    #[test]
    fn rounding_is_to_the_nearest_and_to_even() {
        // Between 16 and 18 of E4M3 lies 17, a tie; 16 has the even pattern. Between 18 and 20, 19.
        let rounded = |format: Float8, value| format.decode(format.encode(value));
        assert_eq!(rounded(E4M3, 17.0), 16.0);
        assert_eq!(rounded(E4M3, 19.0), 20.0);
        assert_eq!(rounded(E4M3, 17.001), 18.0);
        assert_eq!(rounded(E5M2, -9.0), -8.0);
        assert_eq!(rounded(E4M3, 2.0_f32.powi(-10)), 0.0);
        for format in [E4M3, E5M2, E4M3Fnuz, E5M2Fnuz] {
            for bits in 0..=255 {
                let value = format.decode(bits);
                if value.is_finite() {
                    assert_eq!(format.encode(value), bits, "{format:?} {bits:#x}");
                }
            }
        }
    }
}
