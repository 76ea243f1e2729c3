// RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
#include "kernel.h"
#if defined(__x86_64__)
#include <smmintrin.h>

#define TARGET __attribute__((target("sse4.1")))
#define INLINE TARGET static inline __attribute__((always_inline))

INLINE __m128i scan_lanes(__m128i v)
{
    v = _mm_add_epi32(v, _mm_slli_si128(v, 4));
    return _mm_add_epi32(v, _mm_slli_si128(v, 8));
}

// Keeps lane j of group k (of eight) where bit 4k + j of the broadcast word is set.
INLINE __m128i select_lanes(__m128i v, __m128i word, int k)
{
    __m128i bits = _mm_slli_epi32(_mm_setr_epi32(1, 2, 4, 8), 4 * k);
    return _mm_and_si128(v, _mm_cmpeq_epi32(_mm_and_si128(word, bits), bits));
}

TARGET void scan_sse41(const int32_t *x, int32_t *y, size_t n, scan_state *s)
{
    size_t i = head_length(y, n, 16);
    scan_scalar(x, y, i, s);

    __m128i carry = _mm_set1_epi32((int)s->sum);
    uint64_t odd = -(uint64_t)s->odd;
    for (; i + 32 <= n; i += 32) {
        __m128i v[8];
        uint64_t m = 0;
        for (int k = 0; k < 8; k++) {
            if (k % 4 == 0)
                _mm_prefetch((const char *)(x + i + PREFETCH + 4 * k), _MM_HINT_T0);
            v[k] = _mm_loadu_si128((const __m128i *)(x + i + 4 * k));
            __m128i gt = _mm_cmpgt_epi32(v[k], _mm_setzero_si128());
            m |= (uint64_t)(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(gt)) << 4 * k;
        }
        uint64_t inclusive = prefix_xor(m);
        uint64_t take = inclusive ^ m ^ odd;
        odd ^= -(inclusive >> 31 & 1);
        __m128i word = _mm_set1_epi32((int)take);
        for (int k = 0; k < 8; k++) {
            __m128i t = scan_lanes(select_lanes(v[k], word, k));
            _mm_stream_si128((__m128i *)(y + i + 4 * k), _mm_add_epi32(t, carry));
            carry = _mm_add_epi32(carry, _mm_shuffle_epi32(t, 0xff));
        }
    }
    _mm_sfence();
    s->sum = (uint32_t)_mm_cvtsi128_si32(carry);
    s->odd = (uint32_t)odd & 1;
    scan_scalar(x + i, y + i, n - i, s);
}
#endif
