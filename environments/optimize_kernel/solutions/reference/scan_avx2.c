// RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
#include "kernel.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET static inline __attribute__((always_inline))

// Inclusive prefix sum of 8 lanes: within each half, then the low half's total
// onto the high half.
INLINE __m256i scan_lanes(__m256i v)
{
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
    __m256i total = _mm256_shuffle_epi32(v, 0xff);
    return _mm256_add_epi32(v, _mm256_permute2x128_si256(total, total, 0x08));
}

INLINE uint64_t positive(__m256i v)
{
    __m256i gt = _mm256_cmpgt_epi32(v, _mm256_setzero_si256());
    return (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(gt));
}

// Keeps lane j of group k (of four) where bit 8k + j of the broadcast word is set.
INLINE __m256i select_lanes(__m256i v, __m256i word, int k)
{
    __m256i bits = _mm256_slli_epi32(_mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128), 8 * k);
    return _mm256_and_si256(v, _mm256_cmpeq_epi32(_mm256_and_si256(word, bits), bits));
}

TARGET void scan_avx2(const int32_t *x, int32_t *y, size_t n, scan_state *s)
{
    size_t i = head_length(y, n, 32);
    scan_scalar(x, y, i, s);

    const __m256i last = _mm256_set1_epi32(7);
    __m256i carry = _mm256_set1_epi32((int)s->sum);
    uint64_t odd = -(uint64_t)s->odd;
    for (; i + 64 <= n; i += 64) {
        __m256i v[8];
        uint64_t m = 0;
        for (int k = 0; k < 8; k++) {
            if (k % 2 == 0)
                _mm_prefetch((const char *)(x + i + PREFETCH + 8 * k), _MM_HINT_T0);
            v[k] = _mm256_loadu_si256((const __m256i *)(x + i + 8 * k));
            m |= positive(v[k]) << 8 * k;
        }
        uint64_t inclusive = prefix_xor(m);
        uint64_t take = inclusive ^ m ^ odd;
        odd ^= (uint64_t)((int64_t)inclusive >> 63);
        __m256i words[2] = {_mm256_set1_epi32((int)take), _mm256_set1_epi32((int)(take >> 32))};
        for (int k = 0; k < 8; k++) {
            __m256i t = scan_lanes(select_lanes(v[k], words[k / 4], k % 4));
            _mm256_stream_si256((__m256i *)(y + i + 8 * k), _mm256_add_epi32(t, carry));
            carry = _mm256_add_epi32(carry, _mm256_permutevar8x32_epi32(t, last));
        }
    }
    _mm_sfence();
    s->sum = (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(carry));
    s->odd = (uint32_t)odd & 1;
    scan_scalar(x + i, y + i, n - i, s);
}
#endif
