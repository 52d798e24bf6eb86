//! Sobol points with the direction numbers of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections"
//! (2008), which the crate `sobol` has.

use sobol::params::JoeKuoD6;
use std::ops::BitXor;

/// The largest number of dimensions: rocRAND's.
pub(crate) const MOST_DIMENSIONS: u32 = 20_000;

/// The points of some dimensions, with coordinates of 32 or 64 bits.
pub(crate) struct Sobol<W> {
    /// The direction numbers of each dimension.
    directions: Vec<Vec<W>>,
    /// The number of the next point.
    position: u64,
}

/// A coordinate.
pub(crate) trait Coordinate: Copy + Default + BitXor<Output = Self> {
    fn directions(dimensions: usize, params: &JoeKuoD6) -> Vec<Vec<Self>>;
}

macro_rules! coordinate {
    ($W:ty) => {
        impl Coordinate for $W {
            fn directions(dimensions: usize, params: &JoeKuoD6) -> Vec<Vec<Self>> {
                sobol::Sobol::<$W>::init_direction_vals::<u32>(dimensions, Self::BITS as usize, params)
            }
        }
    };
}

coordinate!(u32);
coordinate!(u64);

/// Coordinates of points in one dimension.
pub(crate) struct Points<'a, W> {
    directions: &'a [W],
    number: u64,
}

impl<W: Coordinate> Sobol<W> {
    pub(crate) fn new(dimensions: u32, offset: u64) -> Self {
        let dimensions = dimensions as usize;
        // Larger tables take longer to unpack.
        let params = match dimensions {
            0..=100 => JoeKuoD6::minimal(),
            101..=1000 => JoeKuoD6::standard(),
            _ => JoeKuoD6::extended(),
        };
        Self { directions: W::directions(dimensions, &params), position: offset }
    }

    /// The next points, dimension by dimension.
    pub(crate) fn next_points(&mut self, count: usize) -> impl Iterator<Item = Points<'_, W>> {
        let number = self.position;
        self.position = self.position.wrapping_add(count as u64);
        self.directions.iter().map(move |directions| Points { directions, number })
    }
}

impl<W: Coordinate> Iterator for Points<'_, W> {
    type Item = W;

    fn next(&mut self) -> Option<W> {
        let code = self.number ^ (self.number >> 1);
        self.number = self.number.wrapping_add(1);
        let used = self.directions.iter().enumerate().filter(|(bit, _)| code >> bit & 1 == 1);
        Some(used.fold(W::default(), |sum, (_, &direction)| sum ^ direction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first points of the authors' list `new-joe-kuo-6`, in eighths.
    #[test]
    fn first_points() {
        let expected = [[0, 4, 6, 2, 3, 7, 5, 1], [0, 4, 2, 6, 3, 7, 1, 5], [0, 4, 2, 6, 5, 1, 7, 3]];
        let mut points = Sobol::<u32>::new(3, 0);
        for (found, expected) in points.next_points(8).zip(expected) {
            assert_eq!(found.take(8).map(|x| x >> 29).collect::<Vec<_>>(), expected);
        }
        let mut later = Sobol::<u64>::new(3, 5);
        let third = later.next_points(2).nth(2).unwrap();
        assert_eq!(third.take(2).map(|x| x >> 61).collect::<Vec<_>>(), [1, 7]);
    }
}
