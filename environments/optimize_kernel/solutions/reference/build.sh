# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
set -e
gcc -O3 -Wall -Wextra -shared -fPIC -o libprefix_sum.so kernel.c scan_avx512.c scan_avx2.c scan_sse41.c
gcc -O3 -Wall -Wextra -shared -fPIC -o libcopy.so copy.c -lpthread
