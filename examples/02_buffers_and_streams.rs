//! hip-safe alone: a device, a stream, memory that outlives its copies, and an event that measures time.
//!
//! `cargo run -p examples --bin 02_buffers_and_streams`

use hip_safe::{Device, Event};

fn main() -> Result<(), hip_safe::Error> {
    let platform = hip_host::platform();
    for device in Device::all(&platform)? {
        let properties = device.properties();
        println!("{device}: {}, waves of {} threads", properties.name, properties.wave_size);
    }

    let device = Device::new(&platform, 0)?;
    let stream = device.new_stream()?;
    let (start, end) = (Event::new(&device)?, Event::new(&device)?);

    stream.record_event(&start)?;
    let numbers: Vec<u32> = (0..1 << 20).collect();
    let source = stream.upload(&numbers)?;
    let mut target = stream.alloc_zeros::<u32>(numbers.len())?;
    // Two copies write the two halves of the target; the borrow checker knows that they do not overlap.
    let (mut low, mut high) = target.split_at_mut(1 << 19)?;
    stream.copy(&source.slice(1 << 19..)?, &mut low)?;
    stream.copy(&source.slice(..1 << 19)?, &mut high)?;
    stream.record_event(&end)?;

    let back = stream.download(&target)?;
    assert_eq!((back[0], back[1 << 19]), (1 << 19, 0));
    end.synchronize()?;
    println!("4 MiB there, swapped and back in {:?}", end.elapsed_since(&start)?);
    Ok(())
}
