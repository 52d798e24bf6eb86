//! One unsafe function for each C function: statuses become results. Nothing else here touches the table.
//!
//! # Safety
//! Every function asks of its caller what the C functions ask: an initialised library that no other thread is in (docs/SAFETY.md S23), and
//! handles that it gave out (S4: the library is never shut down).

use crate::Result as Checked;
use crate::list::grow;
use hip_sys::amdsmi::{
    amdsmi_asic_info_t, amdsmi_bdf_t, amdsmi_board_info_t, amdsmi_clk_info_t, amdsmi_clk_type_t,
    amdsmi_driver_info_t, amdsmi_engine_usage_t, amdsmi_enumeration_info_t, amdsmi_error_count_t,
    amdsmi_evt_notification_data_t, amdsmi_gpu_block_t, amdsmi_link_metrics_t, amdsmi_link_type_t,
    amdsmi_memory_type_t, amdsmi_pcie_info_t, amdsmi_power_cap_info_t, amdsmi_power_info_t,
    amdsmi_proc_info_t, amdsmi_processor_handle, amdsmi_processor_type_t, amdsmi_retired_page_record_t,
    amdsmi_socket_handle, amdsmi_status_t, amdsmi_temperature_metric_t, amdsmi_temperature_type_t,
    amdsmi_vbios_info_t, amdsmi_vram_info_t, amdsmi_xgmi_info_t, amdsmi_xgmi_status_t,
};
use hip_sys::{AmdsmiTable, WithSlack};
use std::ffi::c_char;

/// A C call that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    pub(crate) function: &'static str,
    pub(crate) status: amdsmi_status_t,
}

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

macro_rules! call {
    ($table:ident, $function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: S1: each use says why its arguments are what the C function asks for.
        match unsafe { ($table.$function)($($argument),*) } {
            amdsmi_status_t::AMDSMI_STATUS_SUCCESS => Ok(()),
            status => Err(Failure { function: stringify!($function), status }),
        }
    };
}

/// `AMDSMI_INIT_AMD_GPUS`. Processors of other kinds are not asked for: their functions are not in the table.
const GPUS: u64 = 1 << 1;

pub(crate) unsafe fn init(table: &AmdsmiTable) -> Result {
    // SAFETY: S1: it takes a number.
    call!(table, amdsmi_init(GPUS))
}

/// The library's own words for a status.
pub(crate) unsafe fn status_code_to_string(
    table: &AmdsmiTable,
    status: amdsmi_status_t,
) -> Result<*const c_char> {
    let mut text = std::ptr::null();
    // SAFETY: S1: the output pointer is live.
    call!(table, amdsmi_status_code_to_string(status, &mut text))?;
    Ok(text)
}

/// Functions that fill a structure for a processor.
macro_rules! structures {
    ($($name:ident: $function:ident -> $out:ty;)*) => {
        $(
            pub(crate) unsafe fn $name(table: &AmdsmiTable, of: amdsmi_processor_handle) -> Result<$out> {
                let mut space = WithSlack::<$out>::default();
                // SAFETY: S1, S4: the handle is the library's; the output pointer is live, and larger than the structure.
                call!(table, $function(of, space.as_mut_ptr()))?;
                Ok(space.value)
            }
        )*
    };
}

structures! {
    device_bdf: amdsmi_get_gpu_device_bdf -> amdsmi_bdf_t;
    enumeration_info: amdsmi_get_gpu_enumeration_info -> amdsmi_enumeration_info_t;
    asic_info: amdsmi_get_gpu_asic_info -> amdsmi_asic_info_t;
    board_info: amdsmi_get_gpu_board_info -> amdsmi_board_info_t;
    driver_info: amdsmi_get_gpu_driver_info -> amdsmi_driver_info_t;
    vbios_info: amdsmi_get_gpu_vbios_info -> amdsmi_vbios_info_t;
    vram_info: amdsmi_get_gpu_vram_info -> amdsmi_vram_info_t;
    power_info: amdsmi_get_power_info -> amdsmi_power_info_t;
    activity: amdsmi_get_gpu_activity -> amdsmi_engine_usage_t;
    total_ecc_count: amdsmi_get_gpu_total_ecc_count -> amdsmi_error_count_t;
    ecc_enabled: amdsmi_get_gpu_ecc_enabled -> u64;
    pcie_info: amdsmi_get_pcie_info -> amdsmi_pcie_info_t;
    xgmi_info: amdsmi_get_xgmi_info -> amdsmi_xgmi_info_t;
    link_metrics: amdsmi_get_link_metrics -> amdsmi_link_metrics_t;
}

pub(crate) unsafe fn processor_type(
    table: &AmdsmiTable,
    of: amdsmi_processor_handle,
) -> Result<amdsmi_processor_type_t> {
    let mut kind = amdsmi_processor_type_t::AMDSMI_PROCESSOR_TYPE_UNKNOWN;
    // SAFETY: S1, S4: the handle is the library's; the output pointer is live.
    call!(table, amdsmi_get_processor_type(of, &mut kind))?;
    Ok(kind)
}

pub(crate) unsafe fn numa_node(table: &AmdsmiTable, of: amdsmi_processor_handle) -> Result<u32> {
    let mut node = 0;
    // SAFETY: S1, S4: the handle is the library's; the output pointer is live.
    call!(table, amdsmi_topo_get_numa_node_number(of, &mut node))?;
    Ok(node)
}

pub(crate) unsafe fn device_uuid(table: &AmdsmiTable, of: amdsmi_processor_handle) -> Result<Vec<c_char>> {
    // AMDSMI_GPU_UUID_SIZE is 38, and it says the length that it needs nowhere else.
    let mut text = vec![0; 256];
    let mut length = 256;
    // SAFETY: S1, S4: the handle is the library's; so many characters are live and writable.
    call!(table, amdsmi_get_gpu_device_uuid(of, &mut length, text.as_mut_ptr()))?;
    Ok(text)
}

pub(crate) unsafe fn socket_info(table: &AmdsmiTable, of: amdsmi_socket_handle) -> Result<Vec<c_char>> {
    let mut text = vec![0; 256];
    // SAFETY: S1, S4: the handle is the library's; so many characters are live and writable.
    call!(table, amdsmi_get_socket_info(of, text.len(), text.as_mut_ptr()))?;
    Ok(text)
}

pub(crate) unsafe fn temperature(
    table: &AmdsmiTable,
    of: amdsmi_processor_handle,
    sensor: amdsmi_temperature_type_t,
    metric: amdsmi_temperature_metric_t,
) -> Result<i64> {
    let mut celsius = 0;
    // SAFETY: S1, S4: the handle is the library's, both enumerators are its own; the output pointer is live.
    call!(table, amdsmi_get_temp_metric(of, sensor, metric, &mut celsius))?;
    Ok(celsius)
}

pub(crate) unsafe fn power_cap(
    table: &AmdsmiTable,
    of: amdsmi_processor_handle,
) -> Result<amdsmi_power_cap_info_t> {
    let mut space = WithSlack::<amdsmi_power_cap_info_t>::default();
    // SAFETY: S1, S4: the handle is the library's; the first sensor is there always; the output pointer is live.
    call!(table, amdsmi_get_power_cap_info(of, 0, space.as_mut_ptr()))?;
    Ok(space.value)
}

/// The counter, the microjoules that one of it is, and the time in nanoseconds.
pub(crate) unsafe fn energy(table: &AmdsmiTable, of: amdsmi_processor_handle) -> Result<(u64, f32, u64)> {
    let (mut counter, mut resolution, mut time) = (0, 0.0, 0);
    // SAFETY: S1, S4: the handle is the library's; the output pointers are live.
    call!(table, amdsmi_get_energy_count(of, &mut counter, &mut resolution, &mut time))?;
    Ok((counter, resolution, time))
}

pub(crate) unsafe fn clock(
    table: &AmdsmiTable,
    of: amdsmi_processor_handle,
    kind: amdsmi_clk_type_t,
) -> Result<amdsmi_clk_info_t> {
    let mut space = WithSlack::<amdsmi_clk_info_t>::default();
    // SAFETY: S1, S4: the handle is the library's, the enumerator is its own; the output pointer is live.
    call!(table, amdsmi_get_clock_info(of, kind, space.as_mut_ptr()))?;
    Ok(space.value)
}

/// The percentage; not in every version.
pub(crate) unsafe fn video_busy(table: &AmdsmiTable, of: amdsmi_processor_handle) -> Checked<u32> {
    let function = table.amdsmi_get_vcn_busy_percent.get()?;
    let mut percent = 0;
    // SAFETY: S1, S4: the handle is the library's; the output pointer is live.
    match unsafe { function(of, &mut percent) } {
        amdsmi_status_t::AMDSMI_STATUS_SUCCESS => Ok(percent),
        status => Err(Failure { function: "amdsmi_get_vcn_busy_percent", status }.into()),
    }
}

/// Total and used bytes.
pub(crate) unsafe fn memory(
    table: &AmdsmiTable,
    of: amdsmi_processor_handle,
    kind: amdsmi_memory_type_t,
) -> Result<(u64, u64)> {
    let (mut total, mut used) = (0, 0);
    // SAFETY: S1, S4: the handle is the library's, the enumerator is its own; the output pointer is live.
    call!(table, amdsmi_get_gpu_memory_total(of, kind, &mut total))?;
    // SAFETY: S1, S4: as above.
    call!(table, amdsmi_get_gpu_memory_usage(of, kind, &mut used))?;
    Ok((total, used))
}

pub(crate) unsafe fn ecc_count(
    table: &AmdsmiTable,
    of: amdsmi_processor_handle,
    block: amdsmi_gpu_block_t,
) -> Result<amdsmi_error_count_t> {
    let mut space = WithSlack::<amdsmi_error_count_t>::default();
    // SAFETY: S1, S4: the handle is the library's, the enumerator is its own; the output pointer is live.
    call!(table, amdsmi_get_gpu_ecc_count(of, block, space.as_mut_ptr()))?;
    Ok(space.value)
}

pub(crate) unsafe fn xgmi_errors(
    table: &AmdsmiTable,
    of: amdsmi_processor_handle,
) -> Result<amdsmi_xgmi_status_t> {
    let mut status = amdsmi_xgmi_status_t::AMDSMI_XGMI_STATUS_NO_ERRORS;
    // SAFETY: S1, S4: the handle is the library's; the output pointer is live.
    call!(table, amdsmi_gpu_xgmi_error_status(of, &mut status))?;
    Ok(status)
}

/// The steps between two processors, and the kind of link.
pub(crate) unsafe fn link_type(
    table: &AmdsmiTable,
    [from, to]: [amdsmi_processor_handle; 2],
) -> Result<(u64, amdsmi_link_type_t)> {
    let (mut hops, mut kind) = (0, amdsmi_link_type_t::AMDSMI_LINK_TYPE_UNKNOWN);
    // SAFETY: S1, S4: both handles are the library's; the output pointers are live.
    call!(table, amdsmi_topo_get_link_type(from, to, &mut hops, &mut kind))?;
    Ok((hops, kind))
}

pub(crate) unsafe fn link_weight(
    table: &AmdsmiTable,
    [from, to]: [amdsmi_processor_handle; 2],
) -> Result<u64> {
    let mut weight = 0;
    // SAFETY: S1, S4: both handles are the library's; the output pointer is live.
    call!(table, amdsmi_topo_get_link_weight(from, to, &mut weight))?;
    Ok(weight)
}

pub(crate) unsafe fn socket_handles(table: &AmdsmiTable) -> Checked<Vec<amdsmi_socket_handle>> {
    grow("amdsmi_get_socket_handles", std::ptr::null_mut(), |count, list| {
        // SAFETY: S1: `list` is null, or has room for as many handles as `count` says.
        unsafe { (table.amdsmi_get_socket_handles)(count, list) }
    })
}

pub(crate) unsafe fn processor_handles(
    table: &AmdsmiTable,
    of: amdsmi_socket_handle,
) -> Checked<Vec<amdsmi_processor_handle>> {
    grow("amdsmi_get_processor_handles", std::ptr::null_mut(), |count, list| {
        // SAFETY: S1, S4: the handle is the library's; `list` is null, or has room for as many handles as `count` says.
        unsafe { (table.amdsmi_get_processor_handles)(of, count, list) }
    })
}

pub(crate) unsafe fn reserved_pages(
    table: &AmdsmiTable,
    of: amdsmi_processor_handle,
) -> Checked<Vec<amdsmi_retired_page_record_t>> {
    grow("amdsmi_get_gpu_memory_reserved_pages", Default::default(), |count, list| {
        // SAFETY: S1, S4: the handle is the library's; `list` is null, or has room for as many records as `count` says.
        unsafe { (table.amdsmi_get_gpu_memory_reserved_pages)(of, count, list) }
    })
}

pub(crate) unsafe fn process_list(
    table: &AmdsmiTable,
    of: amdsmi_processor_handle,
) -> Checked<Vec<amdsmi_proc_info_t>> {
    grow("amdsmi_get_gpu_process_list", Default::default(), |count, list| {
        // SAFETY: S1, S4: the handle is the library's; `list` is null, or has room for as many processes as `count` says.
        unsafe { (table.amdsmi_get_gpu_process_list)(of, count, list) }
    })
}

pub(crate) unsafe fn init_events(table: &AmdsmiTable, of: amdsmi_processor_handle) -> Result {
    // SAFETY: S1, S4: the handle is the library's.
    call!(table, amdsmi_init_gpu_event_notification(of))
}

pub(crate) unsafe fn set_event_mask(table: &AmdsmiTable, of: amdsmi_processor_handle, mask: u64) -> Result {
    // SAFETY: S1, S4: the handle is the library's.
    call!(table, amdsmi_set_gpu_event_notification_mask(of, mask))
}

pub(crate) unsafe fn stop_events(table: &AmdsmiTable, of: amdsmi_processor_handle) -> Result {
    // SAFETY: S1, S4: the handle is the library's.
    call!(table, amdsmi_stop_gpu_event_notification(of))
}

/// The events that are there; none is no error.
pub(crate) unsafe fn events(table: &AmdsmiTable) -> Result<Vec<amdsmi_evt_notification_data_t>> {
    let mut list = vec![amdsmi_evt_notification_data_t::default(); 64];
    let mut count = 64;
    // SAFETY: S1: there is room for as many events as the count says.
    let answer = call!(table, amdsmi_get_gpu_event_notification(0, &mut count, list.as_mut_ptr()));
    match answer {
        Ok(()) => {
            list.truncate(count as usize);
            Ok(list)
        }
        Err(Failure {
            status: amdsmi_status_t::AMDSMI_STATUS_NO_DATA | amdsmi_status_t::AMDSMI_STATUS_TIMEOUT,
            ..
        }) => Ok(Vec::new()),
        Err(failure) => Err(failure),
    }
}
