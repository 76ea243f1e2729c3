// RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
// The floor: moving the same bytes, read once and written once, and nothing else.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { MAX_THREADS = 64, PREFETCH_BYTES = 4096, LINE = 64 };

#if defined(__x86_64__)
// Copy whole lines with streaming stores; y is aligned to a line.
__attribute__((target("avx512f"))) static void lines_avx512(const char *x, char *y, size_t n)
{
    for (size_t i = 0; i < n; i += LINE) {
        _mm_prefetch(x + i + PREFETCH_BYTES, _MM_HINT_T0);
        _mm512_stream_si512((void *)(y + i), _mm512_loadu_si512(x + i));
    }
}

static void lines_sse2(const char *x, char *y, size_t n)
{
    for (size_t i = 0; i < n; i += LINE) {
        _mm_prefetch(x + i + PREFETCH_BYTES, _MM_HINT_T0);
        for (size_t k = i; k < i + LINE; k += 16)
            _mm_stream_si128((__m128i *)(y + k), _mm_loadu_si128((const __m128i *)(x + k)));
    }
}
#endif

// Copies n bytes, with streaming stores where there are such.
static void copy_stream(const char *x, char *y, size_t n)
{
#if defined(__x86_64__)
    size_t head = -(uintptr_t)y & (LINE - 1);
    head = head < n ? head : n;
    size_t lines = (n - head) / LINE * LINE;
    memcpy(y, x, head);
    if (__builtin_cpu_supports("avx512f"))
        lines_avx512(x + head, y + head, lines);
    else
        lines_sse2(x + head, y + head, lines);
    _mm_sfence();
    memcpy(y + head + lines, x + head + lines, n - head - lines);
#else
    memcpy(y, x, n);
#endif
}

typedef struct {
    const char *x;
    char *y;
    size_t n;
} part;

static void *copy_part(void *p)
{
    part *q = p;
    copy_stream(q->x, q->y, q->n);
    return NULL;
}

// Copies n bytes with the given number of threads, each its own stretch.
// Returns 0, or -1 when a thread could not be started.
int copy_threads(const char *x, char *y, size_t n, int threads)
{
    pthread_t id[MAX_THREADS];
    part parts[MAX_THREADS];
    if (threads < 1 || threads > MAX_THREADS)
        return -1;
    size_t step = (n / (size_t)threads + 4095) & ~(size_t)4095;
    int failed = 0, started = 0;
    for (int t = 0; t < threads; t++) {
        size_t from = step * (size_t)t < n ? step * (size_t)t : n;
        size_t to = t == threads - 1 || from + step > n ? n : from + step;
        parts[t] = (part){x + from, y + from, to - from};
        if (t > 0) {
            if (pthread_create(&id[t], NULL, copy_part, &parts[t]) != 0) {
                failed = 1;
                break;
            }
            started = t;
        }
    }
    copy_part(&parts[0]);
    for (int t = 1; t <= started; t++)
        pthread_join(id[t], NULL);
    return failed ? -1 : 0;
}
