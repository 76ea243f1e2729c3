// Package device knows what an attempt runs on: the machine's processors and
// NVIDIA GPUs, a fingerprint of them, and the leases that keep two attempts off
// one device.
//
// GPUs are read from `nvidia-smi -q -x`, which asks NVML; a binary built with
// cgo and the tag nvml (`go build -tags nvml ./runner`) asks NVML itself. Both
// give the same GPU. The plain build needs no C compiler. Leases are advisory
// file locks in one directory for the whole machine, so they hold between
// runners of different users and vanish with the process that held them,
// however it died.
package device
