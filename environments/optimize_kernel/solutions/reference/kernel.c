// RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
// Reference: the widest instruction set that the processor has, on one thread.
#include "kernel.h"
#include <string.h>

void scan_scalar(const int32_t *x, int32_t *y, size_t n, scan_state *s)
{
    uint32_t sum = s->sum, odd = -s->odd;
    for (size_t i = 0; i < n; i++) {
        int32_t v = x[i];
        sum += (uint32_t)v & odd;
        y[i] = (int32_t)sum;
        odd ^= -(uint32_t)(v > 0);
    }
    s->sum = sum;
    s->odd = odd & 1;
}

typedef struct {
    const char *name;
    scan_fn *scan;
} variant;

// Best first. Returns the number of entries.
static int variants(variant v[4])
{
    int n = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("pclmul"))
        v[n++] = (variant){"avx512", scan_avx512};
    if (__builtin_cpu_supports("avx2"))
        v[n++] = (variant){"avx2", scan_avx2};
    if (__builtin_cpu_supports("sse4.1"))
        v[n++] = (variant){"sse4.1", scan_sse41};
#endif
    v[n++] = (variant){"scalar", scan_scalar};
    return n;
}

// Name of the k-th variant that runs here, best first; NULL past the last.
const char *prefix_sum_variant(int k)
{
    variant v[4];
    int n = variants(v);
    return k >= 0 && k < n ? v[k].name : NULL;
}

// Runs the named variant. Returns 0, or -1 when it does not run here.
int prefix_sum_with(const char *name, const int32_t *x, int32_t *y, size_t n)
{
    variant v[4];
    int count = variants(v);
    for (int k = 0; k < count; k++) {
        if (strcmp(v[k].name, name) == 0) {
            scan_state s = {0, 0};
            v[k].scan(x, y, n, &s);
            return 0;
        }
    }
    return -1;
}

void prefix_sum(const int32_t *x, int32_t *y, size_t n)
{
    variant v[4];
    variants(v);
    scan_state s = {0, 0};
    v[0].scan(x, y, n, &s);
}
