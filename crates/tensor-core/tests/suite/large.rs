//! More elements than 32 bits count. Run by hand, as such devices of the host have memory enough:
//! `HIPSTACK_HOST_MEMORY_MB=9000 cargo test -p hipstack-tensor-core --test suite -- --ignored large`, before which
//! `TENSOR_CORE_TEST_DEVICES=host:0` chooses one device.

use crate::common::{on_devices, same, vector};
use tensor_core::{DType, Tensor};

/// The first index that needs more than 32 bits.
const BEYOND: usize = 1 << 32;
/// A multiple of nothing that packs, threads or blocks hold.
const COUNT: usize = BEYOND + 4099;

#[test]
#[ignore = "needs 8.1 GiB of each device's memory"]
fn more_than_four_billion_bytes() {
    on_devices(|device| {
        let mut x = Tensor::full(2, COUNT, DType::U8, device)?;
        assert_eq!(x.elements(), 4_294_971_395);
        same(&x.narrow(0, BEYOND - 1, 3)?, &[2.0; 3])?;
        same(&x.get(COUNT - 1)?, &[2.0])?;
        // Zeros but for a few: an index taken for the one 2^32 before it, or left out, changes every number below.
        x.fill_(0)?;
        let marks = [(5, 3u8), (BEYOND - 1, 20), (BEYOND + 4000, 100)];
        for (index, mark) in marks {
            x.slice_set_(&vector(&[mark], device)?, 0, index)?;
        }
        same(&x.narrow(0, 4, 3)?, &[0.0, 3.0, 0.0])?;
        same(&x.narrow(0, BEYOND - 2, 4)?, &[0.0, 20.0, 0.0, 0.0])?;
        same(&x.narrow(0, 3999, 3)?, &[0.0; 3])?;
        same(&x.narrow(0, BEYOND + 3999, 3)?, &[0.0, 100.0, 0.0])?;
        assert_eq!(x.sum_all()?.to_vec0::<u8>()?, 123);
        assert_eq!(x.narrow(0, 6, COUNT - 6)?.sum_all()?.to_vec0::<u8>()?, 120);
        let ids = vector(&[BEYOND as i64 + 4000, 5, BEYOND as i64 - 1], device)?;
        same(&x.index_select(&ids, 0)?, &[100.0, 3.0, 20.0])?;
        // A part that begins beyond, and the whole.
        let part = x.narrow(0, BEYOND + 3998, 5)?;
        same(&part.add(&part)?, &[0.0, 0.0, 200.0, 0.0, 0.0])?;
        let twice = x.add(&x)?;
        same(&twice.narrow(0, 4, 3)?, &[0.0, 6.0, 0.0])?;
        same(&twice.narrow(0, BEYOND - 2, 4)?, &[0.0, 40.0, 0.0, 0.0])?;
        same(&twice.narrow(0, BEYOND + 3999, 3)?, &[0.0, 200.0, 0.0])?;
        assert_eq!(twice.sum_all()?.to_vec0::<u8>()?, 246);
        drop((x, part, twice));
        // The next device needs the memory.
        if let Some(hip) = device.as_hip() {
            hip.device().trim_memory(0)?;
        }
        Ok(())
    });
}
