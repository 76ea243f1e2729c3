// RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
// One masked prefix sum per instruction set. All take any n >= 0; y need not be
// aligned, x neither. The state is carried from call to call.
#ifndef KERNEL_H
#define KERNEL_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t sum; // of the elements counted so far, modulo 2^32
    uint32_t odd; // 0 or 1: parity of the count of positive elements so far
} scan_state;

// How far ahead of the loads the prefetch runs, in elements. The hardware
// prefetcher stops at each 4 KiB page, this does not.
#define PREFETCH 1024

typedef void scan_fn(const int32_t *x, int32_t *y, size_t n, scan_state *s);

void scan_scalar(const int32_t *x, int32_t *y, size_t n, scan_state *s);
#if defined(__x86_64__)
scan_fn scan_sse41, scan_avx2, scan_avx512;
#endif

// Elements to do one by one until y is aligned to bytes (a power of two).
static inline size_t head_length(const int32_t *y, size_t n, size_t bytes)
{
    size_t k = (-(uintptr_t)y & (bytes - 1)) / sizeof *y;
    return k < n ? k : n;
}

// Inclusive prefix XOR of 64 bits: bit i of the result is the parity of bits 0..i.
static inline uint64_t prefix_xor(uint64_t m)
{
    m ^= m << 1;
    m ^= m << 2;
    m ^= m << 4;
    m ^= m << 8;
    m ^= m << 16;
    return m ^ m << 32;
}
#endif
