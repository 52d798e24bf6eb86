//! Every value, in its unit. The numbers are those of fake.c.

use crate::fake::{both, whole};
use amd_smi_safe::{
    Block, ClockKind, EccErrors, Error, Gpu, LinkKind, LinkStatus, Memory, MemoryKind, ProcessorKind, Sensor,
    SlotKind, Temperature, VramType, XgmiErrors,
};

#[test]
fn sockets_and_processors() {
    let smi = whole("tree");
    assert_eq!((smi.version().major, smi.version().minor, smi.version().patch), (27, 1, 5));
    assert!(smi.library().ends_with("libamd_smi_tree.so"), "{smi:?}");
    let sockets = smi.sockets().expect("two");
    assert_eq!(sockets.len(), 2);
    assert_eq!(sockets[0].name().as_deref(), Ok("0000:c1:00"));
    let [gpu] = sockets[0].processors().expect("one")[..] else { panic!("one processor") };
    assert_eq!(gpu.kind(), Ok(ProcessorKind::GPU));
    assert_eq!(gpu.numa_node(), Ok(1));
    assert_eq!(smi.processors().expect("all").len(), 13);
    assert_eq!(smi.status_text(30).as_deref(), Ok("the GPU is busy"));
    assert_eq!(
        smi.status_text(12345).unwrap_err().to_string(),
        "amdsmi_status_code_to_string answered AMDSMI_STATUS_UNKNOWN_ERROR (4294967295)"
    );
}

#[test]
fn names_numbers_and_identifiers() {
    let [gpu, odd] = both("names");
    assert_eq!(gpu.name().as_deref(), Ok("AMD Instinct MI300X"));
    assert_eq!(gpu.serial().expect("told").as_deref(), Some("0xB1CD3A02EB72"));
    assert_eq!(gpu.uuid().as_deref(), Ok("aaff74a1-0000-1000-80e7-b1cd3a02eb72"));
    assert_eq!(gpu.bus_id().map(|id| id.to_string()).as_deref(), Ok("0000:c1:00.0"));
    assert_eq!(odd.bus_id().map(|id| id.to_string()).as_deref(), Ok("abcde:07:1f.5"));
    assert_eq!(gpu.hip_ordinal(), Ok(Some(0)));
    let driver = gpu.driver().expect("told");
    assert_eq!((&*driver.name, &*driver.version), ("amdgpu", "6.16.6"));
    let asic = gpu.asic().expect("told");
    assert_eq!((asic.vendor_id, asic.device_id, asic.subvendor_id), (0x1002, 0x74A1, 0x1002));
    assert_eq!((asic.revision, asic.oam_id, asic.compute_units), (Some(1), Some(3), Some(304)));
    assert_eq!(asic.vendor_name, "Advanced Micro Devices");
    let board = gpu.board().expect("told");
    assert_eq!(
        [&board.model, &board.serial, &board.fru, &board.product, &board.manufacturer].map(Option::as_deref),
        ["102-G30211-0C", "692251001124", "113-AMDG302110C03", "Instinct MI300X OAM", "AMD"].map(Some)
    );
    let vbios = gpu.vbios().expect("told");
    assert_eq!(
        [&*vbios.name, &*vbios.build_date, &*vbios.part_number, &*vbios.version],
        ["AMD MI300X_HW_SRIOV", "2024/06/05 12:13", "113-M3000100-102", "022.040"]
    );
    let numbers = gpu.numbers().expect("told");
    assert_eq!(
        (numbers.render_node, numbers.card, numbers.hsa, numbers.hip, numbers.hip_uuid.as_deref()),
        (Some(128), Some(1), Some(2), Some(0), Some("GPU-1234"))
    );
}

#[test]
fn temperatures_of_each_sensor_and_limit() {
    let [gpu, _] = both("temperatures");
    let now = [Sensor::Edge, Sensor::Hotspot, Sensor::Memory, Sensor::Hbm(0), Sensor::Hbm(3)];
    assert_eq!(now.map(|sensor| gpu.temperature_celsius(sensor)), [40, 41, -3, 43, 46].map(Ok));
    for stack in [4, 7, 200] {
        let absent = gpu.temperature_celsius(Sensor::Hbm(stack));
        assert_eq!(absent, Err(Error::NotSupported { function: "amdsmi_get_temp_metric" }));
    }
    // The numbers of the limits in amdsmi.h: critical 5, emergency 7, highest 13.
    let limits = [Temperature::Current, Temperature::Critical, Temperature::Emergency, Temperature::Highest];
    assert_eq!(
        limits.map(|which| gpu.temperature_of_celsius(Sensor::Hotspot, which)),
        [41, 541, 741, 1341].map(Ok)
    );
}

#[test]
fn power_energy_clocks_and_use() {
    let [gpu, _] = both("power");
    let power = gpu.power().expect("told");
    assert_eq!(
        (power.socket_watts, power.gfx_millivolts, power.soc_millivolts, power.memory_millivolts),
        (Some(749), Some(850), Some(902), Some(1200))
    );
    assert_eq!(gpu.power_cap_microwatts(), Ok(750_000_000));
    let cap = gpu.power_cap().expect("told");
    assert_eq!(
        (cap.default_microwatts, cap.min_microwatts, cap.max_microwatts),
        (740_000_000, 1_000_000, 760_000_000)
    );
    let energy = gpu.energy().expect("told");
    // 2 to the power of 40, times 15.25: exact in 53 bits.
    assert_eq!((energy.microjoules, energy.nanoseconds), (16_767_552_323_584.0, 123_456_789));
    // The numbers of the clocks in amdsmi.h: GFX 0, fabric 1, SoC 3, memory 4, video 6.
    let kinds = [ClockKind::Gfx, ClockKind::Fabric, ClockKind::Soc, ClockKind::Memory, ClockKind::Video];
    for (kind, number) in kinds.into_iter().zip([0, 1, 3, 4, 6]) {
        let clock = gpu.clock(kind).expect("told");
        assert_eq!(
            (clock.current_megahertz, clock.min_megahertz, clock.max_megahertz),
            (Some(1000 + number), Some(100 + number), Some(2000 + number))
        );
    }
    let busy = gpu.utilization().expect("told");
    assert_eq!((busy.gfx_percent, busy.memory_percent, busy.media_percent), (Some(97), Some(45), Some(0)));
    assert_eq!(gpu.video_percent(), Ok(12));
}

#[test]
fn memory_and_processes() {
    let [gpu, _] = both("memory");
    // 16 GiB of the first kind, 32 of the second, 48 of the third; a sixteenth in use, and a byte or two.
    let kinds = [MemoryKind::Vram, MemoryKind::VisibleVram, MemoryKind::Gtt];
    let memory = kinds.map(|kind| gpu.memory_of(kind).map(|memory| (memory.total_bytes, memory.used_bytes)));
    assert_eq!(
        memory,
        [
            Ok((17_179_869_184, 1_073_741_824)),
            Ok((34_359_738_368, 2_147_483_649)),
            Ok((51_539_607_552, 3_221_225_474))
        ]
    );
    let Memory { total_bytes, used_bytes, .. } = gpu.memory().expect("told");
    assert_eq!((total_bytes, used_bytes), (17_179_869_184, 1_073_741_824));
    let vram = gpu.vram().expect("told");
    assert_eq!((vram.kind, vram.vendor.as_deref()), (VramType::HBM3, Some("Hynix")));
    assert_eq!(
        (vram.size_megabytes, vram.width_bits, vram.max_gigabytes_per_second),
        (Some(196_592), Some(8192), Some(5300))
    );
    assert_eq!(gpu.bad_pages(), Ok(Vec::new()));
    let [process] = &gpu.processes().expect("told")[..] else { panic!("one process") };
    assert_eq!((process.pid, process.name.as_deref()), (4000, Some("train")));
    assert_eq!((process.memory_bytes, process.vram_bytes), (Some(7_000_000_000), Some(6_000_000_000)));
    assert_eq!((process.gfx_nanoseconds, process.compute_units), (Some(5), Some(256)));
    assert_eq!(process.container.as_deref(), Some("docker"));
}

#[test]
fn errors_that_check_bits_found() {
    let [gpu, _] = both("ecc");
    let numbers = |errors: EccErrors| (errors.correctable, errors.uncorrectable, errors.deferred);
    assert_eq!(gpu.ecc_errors().map(numbers), Ok((500, 501, Some(502))));
    // The order of the bits in amdsmi.h, by their numbers.
    let blocks = [(Block::Umc, 0), (Block::Sdma, 1), (Block::Gfx, 2), (Block::XgmiWafl, 7), (Block::Mp0, 11)];
    for (block, bit) in blocks.into_iter().chain([(Block::Fuse, 13), (Block::Jpeg, 16), (Block::Mpio, 18)]) {
        let first = 1000 * (bit + 1);
        assert_eq!(
            gpu.ecc_errors_of(block).map(numbers),
            Ok((first, first + 1, Some(first + 2))),
            "{block:?}"
        );
    }
    assert!(Block::ALL.iter().all(|block| gpu.ecc_errors_of(*block).is_ok()), "none is beyond bit 18");
    assert_eq!(Block::ALL.len(), 19);
    let on = gpu.ecc_blocks().expect("told");
    let on_for: Vec<Block> = Block::ALL.iter().copied().filter(|block| on.contains(*block)).collect();
    assert_eq!(on_for, [Block::Umc, Block::Gfx, Block::Mpio]);
    assert_eq!(on.unknown(), 1 << 38);
}

#[test]
fn links() {
    let [gpu, odd] = both("links");
    let pcie = gpu.pcie().expect("told");
    assert_eq!((pcie.lanes, pcie.max_lanes), (Some(8), Some(16)));
    assert_eq!(
        (pcie.megatransfers_per_second, pcie.max_megatransfers_per_second),
        (Some(16_000), Some(32_000))
    );
    assert_eq!((pcie.generation, pcie.megabits_per_second, pcie.replays), (Some(5), Some(1234), Some(17)));
    assert_eq!(pcie.slot, Some(SlotKind::OAM));
    let xgmi = gpu.xgmi().expect("told");
    assert_eq!((xgmi.lanes, xgmi.hive, xgmi.node, xgmi.index), (16, 0x1122_3344_5566_7788, 7, 3));
    assert_eq!(gpu.xgmi_errors(), Ok(XgmiErrors::SEVERAL));
    let [first, second] = gpu.links().expect("told")[..] else { panic!("two links") };
    assert_eq!((first.to.to_string(), first.kind), ("0000:c1:00.0".into(), LinkKind::XGMI));
    assert_eq!((second.to.to_string(), second.kind), ("0000:c2:00.0".into(), LinkKind::PCIE));
    assert_eq!((second.gigabits_per_second, second.max_gigabits_per_second), (Some(32), Some(513)));
    assert_eq!((second.read_kilobytes, second.written_kilobytes), (Some(1001), Some(2001)));
    assert_eq!(first.status, Some(LinkStatus::INACTIVE));
    let there = gpu.route_to(&odd).expect("told");
    assert_eq!((there.kind, there.steps, there.weight), (LinkKind::XGMI, 1, 15));
    let back = odd.route_to(&gpu).expect("told");
    assert_eq!((back.kind, back.steps, back.weight), (LinkKind::PCIE, 3, 72));
}
