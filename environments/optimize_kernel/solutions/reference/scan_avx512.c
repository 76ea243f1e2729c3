// RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
#include "kernel.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,pclmul")))
#define INLINE TARGET static inline __attribute__((always_inline))

// Inclusive prefix sum of 16 lanes in four shift-and-add steps.
INLINE __m512i scan_lanes(__m512i v)
{
    const __m512i zero = _mm512_setzero_si512();
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 15));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 14));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 12));
    return _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 8));
}

INLINE uint64_t positive(__m512i v)
{
    return (uint64_t)_mm512_cmpgt_epi32_mask(v, _mm512_setzero_si512());
}

// 64 elements a step: the parities of all 64 come from one carry-less multiply
// by all ones; the four lane scans are independent, so that only one addition
// is on the path from step to step. Results leave by streaming stores: reading
// the lines that they replace would cost half as much traffic again.
TARGET void scan_avx512(const int32_t *x, int32_t *y, size_t n, scan_state *s)
{
    size_t i = head_length(y, n, 64);
    scan_scalar(x, y, i, s);

    const __m512i last = _mm512_set1_epi32(15);
    const __m128i ones = _mm_set1_epi8(-1);
    __m512i carry = _mm512_set1_epi32((int)s->sum);
    uint64_t odd = -(uint64_t)s->odd;
    for (; i + 64 <= n; i += 64) {
        for (int k = 0; k < 4; k++)
            _mm_prefetch((const char *)(x + i + PREFETCH + 16 * k), _MM_HINT_T0);
        __m512i a = _mm512_loadu_si512(x + i), b = _mm512_loadu_si512(x + i + 16);
        __m512i c = _mm512_loadu_si512(x + i + 32), d = _mm512_loadu_si512(x + i + 48);
        uint64_t m = positive(a) | positive(b) << 16 | positive(c) << 32 | positive(d) << 48;
        __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)m), ones, 0);
        uint64_t inclusive = (uint64_t)_mm_cvtsi128_si64(product);
        uint64_t take = inclusive ^ m ^ odd;
        odd ^= (uint64_t)((int64_t)inclusive >> 63);

        a = scan_lanes(_mm512_maskz_mov_epi32((__mmask16)take, a));
        b = scan_lanes(_mm512_maskz_mov_epi32((__mmask16)(take >> 16), b));
        c = scan_lanes(_mm512_maskz_mov_epi32((__mmask16)(take >> 32), c));
        d = scan_lanes(_mm512_maskz_mov_epi32((__mmask16)(take >> 48), d));
        __m512i ta = _mm512_permutexvar_epi32(last, a), tb = _mm512_permutexvar_epi32(last, b);
        __m512i tc = _mm512_permutexvar_epi32(last, c), td = _mm512_permutexvar_epi32(last, d);
        __m512i tab = _mm512_add_epi32(ta, tb), tabc = _mm512_add_epi32(tab, tc);
        _mm512_stream_si512((void *)(y + i), _mm512_add_epi32(a, carry));
        _mm512_stream_si512((void *)(y + i + 16), _mm512_add_epi32(b, _mm512_add_epi32(carry, ta)));
        _mm512_stream_si512((void *)(y + i + 32), _mm512_add_epi32(c, _mm512_add_epi32(carry, tab)));
        _mm512_stream_si512((void *)(y + i + 48), _mm512_add_epi32(d, _mm512_add_epi32(carry, tabc)));
        carry = _mm512_add_epi32(carry, _mm512_add_epi32(tabc, td));
    }
    _mm_sfence();
    s->sum = (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(carry));
    s->odd = (uint32_t)odd & 1;
    scan_scalar(x + i, y + i, n - i, s);
}
#endif
