/* A library with AMD SMI's names and values that a test knows, for machines without a GPU. Structures are written byte by byte at the
 * offsets of amdsmi.h 27.1, as a C compiler gives them, so that they are not the binding's own.
 *
 * MAJOR is the version it answers. NO_DRIVER, NO_VIDEO and NO_SENSORS leave something out.
 * Socket 0 has a GPU with every value; socket 1 one that knows nothing and has what is newer than its user, and more after each call. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { OK = 0, INVAL = 1, NOT_SUPPORTED = 2, NO_PERM = 10, OUT_OF_RESOURCES = 15, BUSY = 30, NOT_INIT = 32, DRIVER_NOT_LOADED = 34,
       NO_DATA = 40, INSUFFICIENT_SIZE = 41, UNKNOWN = -1 };

static int sockets[2], gpus[16]; /* handles are their addresses */
static void *full = &gpus[0], *odd = &gpus[1];
static int initialised, inside, overlaps, listening, told, calls[4];
static uint64_t mask;

int fake_overlaps(void) { return overlaps; }
int fake_listening(void) { return listening; }

static void enter(void) {
    if (__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) != 1) __atomic_add_fetch(&overlaps, 1, __ATOMIC_SEQ_CST);
    for (volatile int i = 0; i < 2000; i++) {}
}
static int leave(int status) {
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    return status;
}
#define ENTER enter(); if (!initialised) return leave(NOT_INIT)

static void put8(void *out, int at, uint8_t value) { memcpy((char *)out + at, &value, 1); }
static void put16(void *out, int at, uint16_t value) { memcpy((char *)out + at, &value, 2); }
static void put32(void *out, int at, uint32_t value) { memcpy((char *)out + at, &value, 4); }
static void put64(void *out, int at, uint64_t value) { memcpy((char *)out + at, &value, 8); }
static void text(void *out, int at, const char *value) { strcpy((char *)out + at, value); }
/* 256 characters and no NUL */
static void endless(void *out, int at, char letter) { memset((char *)out + at, letter, 256); }
/* every field the largest number, which stands for "not known" */
static int unknown(void *out, int size) { memset(out, 0xFF, size); return leave(OK); }

int amdsmi_init(uint64_t flags) {
#ifdef NO_DRIVER
    return DRIVER_NOT_LOADED;
#endif
    if (flags != 2) return INVAL;
    initialised = 1;
    return OK;
}
int amdsmi_shut_down(void) { initialised = 0; return OK; }
int amdsmi_get_lib_version(void *out) {
    put32(out, 0, MAJOR); put32(out, 4, 1); put32(out, 8, 5);
    return OK;
}
int amdsmi_status_code_to_string(int status, const char **words) {
    ENTER;
    *words = status == BUSY ? "the GPU is busy" : "nobody knows";
    return leave(status == BUSY ? OK : UNKNOWN);
}

int amdsmi_get_socket_handles(uint32_t *count, void **list) {
    ENTER;
    if (!list) { *count = 2; return leave(OK); }
    if (*count > 2) *count = 2;
    for (uint32_t i = 0; i < *count; i++) list[i] = &sockets[i];
    return leave(OK);
}
int amdsmi_get_socket_info(void *socket, size_t length, char *name) {
    ENTER;
    if (socket == &sockets[0]) strncpy(name, "0000:c1:00", length);
    else memset(name, 's', length); /* no NUL, as strncpy leaves a name that is too long */
    return leave(OK);
}
/* The second socket has one processor at first and twelve at once after: no more are written than there is room for, and nothing says so. */
int amdsmi_get_processor_handles(void *socket, uint32_t *count, void **list) {
    ENTER;
    uint32_t real = socket == &sockets[0] ? 1 : !list ? 1 : 12;
    if (!list) { *count = real; return leave(OK); }
    if (*count > real) *count = real;
    for (uint32_t i = 0; i < *count; i++) list[i] = socket == &sockets[0] ? full : &gpus[1 + i];
    return leave(OK);
}
int amdsmi_get_processor_type(void *gpu, uint32_t *kind) { ENTER; *kind = gpu == full ? 1 : 77; return leave(OK); }
int amdsmi_get_gpu_device_bdf(void *gpu, void *out) {
    ENTER;
    put64(out, 0, gpu == full ? 0xC100 : (uint64_t)0xABCDE << 16 | 0x07 << 8 | 0x1F << 3 | 5);
    return leave(OK);
}
int amdsmi_get_gpu_device_uuid(void *gpu, unsigned *length, char *out) {
    ENTER;
    if (*length < 38) return leave(INVAL);
    strcpy(out, "aaff74a1-0000-1000-80e7-b1cd3a02eb72");
    *length = 38;
    return leave(gpu == full ? OK : NOT_SUPPORTED);
}
int amdsmi_get_gpu_enumeration_info(void *gpu, void *out) {
    ENTER;
    if (gpu != full) return unknown(out, 272);
    put32(out, 0, 128); put32(out, 4, 1); put32(out, 8, 2); put32(out, 12, 0); text(out, 16, "GPU-1234");
    return leave(OK);
}
int amdsmi_get_gpu_asic_info(void *gpu, void *out) {
    ENTER;
    if (gpu != full) {
        unknown(out, 896);
        endless(out, 0, 'm'); endless(out, 260, 'v'); text(out, 532, "0xffffffffffffffff");
        return OK;
    }
    text(out, 0, "AMD Instinct MI300X"); put32(out, 256, 0x1002); text(out, 260, "Advanced Micro Devices");
    put32(out, 516, 0x1002); put64(out, 520, 0x74A1); put32(out, 528, 1); text(out, 532, "0xB1CD3A02EB72");
    put32(out, 788, 3); put32(out, 792, 304);
    memset((char *)out + 896, 0xEE, 64); /* a structure that has grown */
    return leave(OK);
}
int amdsmi_get_gpu_board_info(void *gpu, void *out) {
    ENTER;
    if (gpu != full) { text(out, 0, "N/A"); return leave(OK); }
    text(out, 0, "102-G30211-0C"); text(out, 256, "692251001124"); text(out, 512, "113-AMDG302110C03");
    text(out, 768, "Instinct MI300X OAM"); text(out, 1024, "AMD");
    return leave(OK);
}
int amdsmi_get_gpu_driver_info(void *gpu, void *out) {
    ENTER;
    text(out, 0, "6.16.6"); text(out, 256, "2025/10/01"); text(out, 512, "amdgpu");
    return leave(gpu == full ? OK : NO_PERM);
}
int amdsmi_get_gpu_vbios_info(void *gpu, void *out) {
    ENTER;
    (void)gpu;
    text(out, 0, "AMD MI300X_HW_SRIOV"); text(out, 256, "2024/06/05 12:13"); text(out, 512, "113-M3000100-102"); text(out, 768, "022.040");
    return leave(OK);
}
int amdsmi_get_gpu_vram_info(void *gpu, void *out) {
    ENTER;
    if (gpu != full) { unknown(out, 584); put32(out, 0, 99); endless(out, 4, 'x'); return OK; }
    put32(out, 0, 4); text(out, 4, "Hynix"); put64(out, 264, 196592); put32(out, 272, 8192); put64(out, 280, 5300);
    return leave(OK);
}
int amdsmi_topo_get_numa_node_number(void *gpu, uint32_t *node) { ENTER; *node = gpu == full ? 1 : 0; return leave(OK); }

#ifndef NO_SENSORS
int amdsmi_get_temp_metric(void *gpu, int sensor, int metric, int64_t *celsius) {
    ENTER;
    *celsius = sensor == 2 ? -3 : 40 + sensor + 100 * metric;
    return leave(gpu == full || sensor == 0 ? OK : NOT_SUPPORTED);
}
#endif
int amdsmi_get_power_info(void *gpu, void *out) {
    ENTER;
    if (gpu != full) { unknown(out, 192); put64(out, 0, 0xFFFFFFFF); put32(out, 8, 0xFFFF); put32(out, 12, 33); return OK; }
    put64(out, 0, 749); put32(out, 8, 1); put32(out, 12, 2); put64(out, 16, 850); put64(out, 24, 902); put64(out, 32, 1200);
    put32(out, 40, 666); /* watts or microwatts, as the version has it: nobody reads it */
    return leave(OK);
}
int amdsmi_get_power_cap_info(void *gpu, uint32_t sensor, void *out) {
    ENTER;
    put64(out, 0, 750000000); put64(out, 8, 740000000); put64(out, 16, 2100); put64(out, 24, 1000000); put64(out, 32, 760000000);
    return leave(gpu != full ? NOT_SUPPORTED : sensor ? INVAL : OK);
}
int amdsmi_get_energy_count(void *gpu, uint64_t *counter, float *resolution, uint64_t *time) {
    ENTER;
    (void)gpu;
    *counter = 1ull << 40; *resolution = 15.25f; *time = 123456789;
    return leave(OK);
}
int amdsmi_get_clock_info(void *gpu, int kind, void *out) {
    ENTER;
    if (gpu != full) return unknown(out, 32);
    put32(out, 0, 1000 + kind); put32(out, 4, 100 + kind); put32(out, 8, 2000 + kind);
    return leave(OK);
}
int amdsmi_get_gpu_activity(void *gpu, void *out) {
    ENTER;
    put32(out, 0, gpu == full ? 97 : 0xFFFF); put32(out, 4, gpu == full ? 45 : 0xFFFFFFFF); put32(out, 8, gpu == full ? 0 : 0xFFFFFFFF);
    return leave(OK);
}
#ifndef NO_VIDEO
int amdsmi_get_vcn_busy_percent(void *gpu, uint32_t *percent) { ENTER; *percent = 12; return leave(gpu == full ? OK : NOT_SUPPORTED); }
#endif

int amdsmi_get_gpu_memory_total(void *gpu, int kind, uint64_t *bytes) { ENTER; (void)gpu; *bytes = (kind + 1ull) << 34; return leave(OK); }
int amdsmi_get_gpu_memory_usage(void *gpu, int kind, uint64_t *bytes) {
    ENTER;
    *bytes = ((kind + 1ull) << 30) + kind;
    return leave(gpu == full ? OK : BUSY);
}
/* Two pages, then thirty, of which only as many are written as there is room for. */
int amdsmi_get_gpu_memory_reserved_pages(void *gpu, uint32_t *count, void *out) {
    ENTER;
    if (gpu == full) { *count = 0; return leave(OK); }
    uint32_t real = out ? 30 : 2, room = *count;
    if (!out || room > real) *count = real;
    for (uint32_t i = 0; out && i < *count; i++) {
        put64(out, 24 * i, 0x1000 * i); put64(out, 24 * i + 8, 4096); put32(out, 24 * i + 16, i % 4);
    }
    return leave(out && room < real ? INSUFFICIENT_SIZE : OK);
}
/* One process, then one more than there is room for, three times; for ever on the last GPU. */
int amdsmi_get_gpu_process_list(void *gpu, uint32_t *count, void *out) {
    ENTER;
    int *call = &calls[gpu == full ? 0 : gpu == odd ? 1 : 2];
    uint32_t room = *count, real = gpu == full ? 1 : room == 0 ? 1 : gpu == odd && ++*call > 3 ? 70 : room + 1;
    *count = real;
    for (uint32_t i = 0; room && i < room && i < real; i++) {
        char *at = (char *)out + 704 * i;
        memset(at, gpu == full ? 0 : 0xFF, 704);
        put32(at, 256, 4000 + i);
        if (gpu == full) {
            text(at, 0, "train"); put64(at, 264, 7000000000); put64(at, 272, 5); put64(at, 280, 6); put64(at, 336, 1); put64(at, 344, 2);
            put64(at, 352, 6000000000); text(at, 400, "docker"); put32(at, 656, 256);
        } else endless(at, 0, 'p');
    }
    return leave(room && real > room ? OUT_OF_RESOURCES : OK);
}

static int errors(void *out, uint64_t n) { put64(out, 0, n); put64(out, 8, n + 1); put64(out, 16, n + 2); return leave(OK); }
int amdsmi_get_gpu_total_ecc_count(void *gpu, void *out) { ENTER; (void)gpu; return errors(out, 500); }
int amdsmi_get_gpu_ecc_count(void *gpu, uint64_t block, void *out) {
    ENTER;
    (void)gpu;
    return block >> 19 ? leave(INVAL) : errors(out, 1000 * (__builtin_ctzll(block) + 1));
}
int amdsmi_get_gpu_ecc_enabled(void *gpu, uint64_t *blocks) { ENTER; (void)gpu; *blocks = 1 | 1 << 2 | 1 << 18 | 1ull << 38; return leave(OK); }

int amdsmi_get_pcie_info(void *gpu, void *out) {
    ENTER;
    if (gpu != full) { unknown(out, 512); put32(out, 12, 42); return OK; }
    put16(out, 0, 16); put32(out, 4, 32000); put32(out, 8, 5); put32(out, 12, 1);
    put16(out, 96, 8); put32(out, 100, 16000); put32(out, 104, 1234); put64(out, 112, 17);
    return leave(OK);
}
int amdsmi_get_xgmi_info(void *gpu, void *out) {
    ENTER;
    put8(out, 0, 16); put64(out, 8, 0x1122334455667788); put64(out, 16, 7); put32(out, 24, 3);
    return leave(gpu == full ? OK : NOT_SUPPORTED);
}
/* The GPU of the second socket counts more links than there is room for. */
int amdsmi_get_link_metrics(void *gpu, void *out) {
    ENTER;
    uint32_t count = gpu == full ? 2 : 64;
    put32(out, 0, gpu == full ? 2 : 1000);
    for (uint32_t i = 0; i < count; i++) {
        char *at = (char *)out + 8 + 56 * i;
        put64(at, 0, 0xC100 + 0x100 * i); put32(at, 8, 32); put32(at, 12, 512 + i); put32(at, 16, i ? 1 : 2);
        put64(at, 24, 1000 + i); put64(at, 32, 2000 + i); put32(at, 40, i ? 9 : 2);
    }
    return leave(OK);
}
int amdsmi_gpu_xgmi_error_status(void *gpu, int *status) { ENTER; *status = gpu == full ? 2 : 6; return leave(OK); }
int amdsmi_topo_get_link_type(void *from, void *to, uint64_t *hops, int *kind) {
    ENTER;
    *hops = from == full ? 1 : 3; *kind = to == odd ? 2 : 1;
    return leave(from == to ? INVAL : OK);
}
int amdsmi_topo_get_link_weight(void *from, void *to, uint64_t *weight) { ENTER; (void)to; *weight = from == full ? 15 : 72; return leave(OK); }

int amdsmi_init_gpu_event_notification(void *gpu) { ENTER; if (gpu == &gpus[2]) return leave(NO_PERM); listening++; return leave(OK); }
int amdsmi_set_gpu_event_notification_mask(void *gpu, uint64_t bits) { ENTER; mask = bits; told = 0; return leave(gpu == &gpus[3] ? INVAL : OK); }
int amdsmi_get_gpu_event_notification(int milliseconds, uint32_t *count, void *out) {
    ENTER;
    (void)milliseconds;
    if (*count < 3) return leave(INVAL);
    if (told++ != 2) { *count = 0; return leave(NO_DATA); } /* they come at the third call */
    *count = 3;
    memset(out, 0, 3 * 272);
    for (int i = 0; i < 3; i++) { put64(out, 272 * i, (uintptr_t)(i == 0 ? full : i == 1 ? odd : &gpus[9])); }
    put32(out, 8, 2); sprintf((char *)out + 12, "mask %llx", (unsigned long long)mask);
    put32(out, 272 + 8, 200); endless(out, 272 + 12, 'e');
    put32(out, 544 + 8, 3);
    return leave(OK);
}
int amdsmi_stop_gpu_event_notification(void *gpu) { ENTER; listening--; return leave(gpu == odd ? BUSY : OK); }

/* Nobody calls them here: they change a GPU. */
int amdsmi_set_power_cap(void *gpu, uint32_t sensor, uint64_t cap) { (void)gpu; (void)sensor; (void)cap; return INVAL; }
int amdsmi_set_gpu_perf_level(void *gpu, int level) { (void)gpu; (void)level; return INVAL; }
int amdsmi_set_gpu_clk_limit(void *gpu, int kind, int limit, uint64_t value) { (void)gpu; (void)kind; (void)limit; (void)value; return INVAL; }
int amdsmi_reset_gpu(void *gpu) { (void)gpu; return INVAL; }
