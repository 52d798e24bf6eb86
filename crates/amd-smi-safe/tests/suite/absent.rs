//! What a GPU does not have, what nobody knows, and what is newer than this crate.

use crate::fake::{both, build, open, whole};
use amd_smi_safe::{
    ClockKind, Error, Gpu, LinkStatus, Memory, ProcessorKind, Sensor, SlotKind, VramType, XgmiErrors,
};

#[test]
fn the_largest_numbers_are_unknown() {
    let [_, odd] = both("sentinels");
    let power = odd.power().expect("told");
    assert_eq!(power.socket_watts, Some(33), "the one of three that it has");
    assert_eq!((power.gfx_millivolts, power.soc_millivolts, power.memory_millivolts), (None, None, None));
    let clock = odd.clock(ClockKind::Gfx).expect("told");
    assert_eq!((clock.current_megahertz, clock.min_megahertz, clock.max_megahertz), (None, None, None));
    let busy = odd.utilization().expect("told");
    assert_eq!((busy.gfx_percent, busy.memory_percent, busy.media_percent), (None, None, None));
    let pcie = odd.pcie().expect("told");
    assert_eq!((pcie.lanes, pcie.max_lanes, pcie.megatransfers_per_second), (None, None, None));
    assert_eq!((pcie.replays, pcie.megabits_per_second, pcie.generation), (None, None, None));
    let numbers = odd.numbers().expect("told");
    assert_eq!((numbers.render_node, numbers.card, numbers.hsa, numbers.hip), (None, None, None, None));
    assert_eq!(odd.hip_ordinal(), Ok(None));
    let asic = odd.asic().expect("told");
    assert_eq!((asic.revision, asic.oam_id, asic.compute_units, asic.serial), (None, None, None, None));
    let board = odd.board().expect("told");
    assert_eq!((board.model, board.product), (None, None), "`N/A`, and nothing");
}

#[test]
fn numbers_without_a_name_are_kept() {
    let [_, odd] = both("unknown");
    assert_eq!(odd.kind(), Ok(ProcessorKind(77)));
    assert_eq!(odd.kind().map(|kind| kind.to_string()).as_deref(), Ok("unknown (77)"));
    assert_eq!(odd.vram().map(|vram| vram.kind), Ok(VramType(99)));
    assert_eq!(odd.pcie().map(|pcie| pcie.slot), Ok(Some(SlotKind(42))));
    assert_eq!(odd.xgmi_errors(), Ok(XgmiErrors(6)));
    let [gpu, _] = both("unknown_link");
    let status = gpu.links().expect("told")[1].status;
    assert_eq!(status, Some(LinkStatus(9)));
    assert_eq!(status.and_then(LinkStatus::name), None);
}

#[test]
fn texts_end_with_their_array() {
    let smi = whole("texts");
    let sockets = smi.sockets().expect("two");
    assert_eq!(sockets[1].name(), Ok("s".repeat(256)));
    let odd = sockets[1].processors().expect("some")[0];
    assert_eq!(odd.name(), Ok("m".repeat(256)));
    assert_eq!(odd.asic().map(|asic| asic.vendor_name), Ok("v".repeat(256)));
    assert_eq!(odd.vram().map(|vram| vram.vendor), Ok(Some("x".repeat(256))));
    let process = &odd.processes().expect("some")[0];
    assert_eq!(process.name, Some("p".repeat(256)));
    assert_eq!((process.memory_bytes, process.vram_bytes, process.compute_units), (None, None, None));
}

#[test]
fn errors_say_what_they_are() {
    let [_, odd] = both("errors");
    let sensor = odd.temperature_celsius(Sensor::Hotspot).unwrap_err();
    assert!(sensor.is_absence());
    assert_eq!(sensor.to_string(), "amdsmi_get_temp_metric: this GPU or its driver does not have it");
    let forbidden = odd.driver().unwrap_err();
    assert!(!forbidden.is_absence());
    assert!(forbidden.to_string().contains("permission denied: run as root"), "{forbidden}");
    let busy: amd_smi_safe::Result<Memory> = odd.memory();
    assert_eq!(
        busy.unwrap_err(),
        Error::Status { function: "amdsmi_get_gpu_memory_usage", code: 30, name: "AMDSMI_STATUS_BUSY" }
    );
    let itself = odd.route_to(&odd).unwrap_err();
    assert_eq!(itself.to_string(), "amdsmi_topo_get_link_type answered AMDSMI_STATUS_INVAL (1)");
}

#[test]
fn without_a_driver_the_error_has_the_remedy() {
    let file = build("no_driver", &["MAJOR=27", "NO_DRIVER"]);
    for _ in 0..2 {
        let error = open(&file).unwrap_err();
        assert_eq!(error, Error::NoDriver);
        let text = error.to_string();
        assert!(
            text.contains("AMDSMI_STATUS_DRIVER_NOT_LOADED") && text.contains("modprobe amdgpu"),
            "{text}"
        );
    }
}

#[test]
fn processors_of_two_libraries_do_not_meet() {
    let ([here, _], [there, _]) = (both("here"), both("there"));
    assert_eq!(here.route_to(&there).unwrap_err(), Error::OtherLibrary);
    assert_eq!(whole("here").events(&[there], &[]).unwrap_err(), Error::OtherLibrary);
    assert_ne!(here, there);
    assert_eq!(here, both("here")[0], "the same file is the same library");
}
