//go:build !(linux && cgo && nvml)

package device

// NVMLSupport says how this binary reads GPUs, for `runner doctor`.
const NVMLSupport = "built without the tag nvml: GPUs are read from nvidia-smi"

func readNVML() ([]GPU, error) { return nil, errNoDriver }
