// What the loop over waves and the instructions done in C share.
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;
#define EXPORT __attribute__((visibility("default")))

enum { RDNA3, RDNA4, CDNA };
enum { SHARED_BASE = 235, PRIVATE_BASE = 237, SHARED_HI = 0x10000, PRIVATE_HI = 0x20000 }; // apertures: high words of LDS and scratch addresses
enum { PC = 256, STRIDE = 259, GIDX = 260, LDS_END = 261, HWREG = 320, NSGPR = 512 }; // indices in the scalar file; LDS_END: where LDS reads as 0
