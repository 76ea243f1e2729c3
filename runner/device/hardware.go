package device

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// Hardware describes the machine as far as it bears on a score.
type Hardware struct {
	Arch      string   `json:"arch"`
	CPUModel  string   `json:"cpu_model"`
	CPUFlags  string   `json:"cpu_flags_sha256"` // digest of the sorted feature flags, which a hypervisor may cut
	CPUs      int      `json:"cpus"`             // logical processors this process may use
	RAMGB     int      `json:"ram_gb"`           // rounded: the kernel's total varies a little between boots
	GPUs      []string `json:"gpus"`             // names, in the order of NVML
	GPUDriver string   `json:"gpu_driver"`
}

// Fingerprint identifies hardware that runs alike: 16 hex digits of a digest of
// every field.
func (h Hardware) Fingerprint() string {
	b, err := json.Marshal(h)
	if err != nil {
		panic("device: hardware does not encode: " + err.Error()) // strings and integers always do
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// Describe reads the machine's hardware.
func Describe(gpus []GPU) (Hardware, error) {
	h := Hardware{Arch: runtime.GOARCH}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return h, rebench.Errorf(rebench.CodeInternal, "hardware: %w", err)
	}
	defer f.Close()
	if h.CPUModel, h.CPUFlags, err = parseCPUInfo(f); err != nil {
		return h, err
	}
	cores, err := AllowedCores()
	if err != nil {
		return h, err
	}
	h.CPUs = len(cores)
	var si unix.Sysinfo_t
	if err := unix.Sysinfo(&si); err != nil {
		return h, rebench.Errorf(rebench.CodeInternal, "hardware: sysinfo: %w", err)
	}
	h.RAMGB = int((uint64(si.Totalram)*uint64(si.Unit) + 1<<29) >> 30)
	for _, g := range gpus {
		h.GPUs = append(h.GPUs, g.Name)
		h.GPUDriver = g.Driver
	}
	return h, nil
}

// parseCPUInfo reads the first processor's model and feature flags. ARM kernels
// give no model name; implementer and part stand in.
func parseCPUInfo(r io.Reader) (model, flags string, err error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	var part []string
	for sc.Scan() {
		key, value, ok := strings.Cut(sc.Text(), ":")
		if !ok {
			if model != "" || len(part) > 0 {
				break // end of the first processor's block
			}
			continue
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch key {
		case "model name":
			model = value
		case "CPU implementer", "CPU part":
			part = append(part, value)
		case "flags", "Features":
			words := strings.Fields(value)
			slices.Sort(words)
			sum := sha256.Sum256([]byte(strings.Join(words, " ")))
			flags = hex.EncodeToString(sum[:8])
		}
	}
	if err := sc.Err(); err != nil {
		return "", "", rebench.Errorf(rebench.CodeInternal, "/proc/cpuinfo: %w", err)
	}
	if model == "" {
		model = strings.Join(part, "/")
	}
	return model, flags, nil
}

// AllowedCores lists the logical processors this process may run on, siblings of
// one physical core next to each other, so that leases tend to take whole cores.
func AllowedCores() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "processors: %w", err)
	}
	type core struct{ id, pkg, phys int }
	var cores []core
	for i := range len(set) * strconv.IntSize {
		if set.IsSet(i) {
			cores = append(cores, core{i, topology(i, "physical_package_id"), topology(i, "core_id")})
		}
	}
	slices.SortFunc(cores, func(a, b core) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.phys, b.phys), cmp.Compare(a.id, b.id))
	})
	ids := make([]int, len(cores))
	for i, c := range cores {
		ids[i] = c.id
	}
	return ids, nil
}

func topology(cpu int, file string) int {
	b, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/%s", cpu, file))
	if err != nil {
		return cpu // unknown topology: every processor counts as a core of its own
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return cpu
	}
	return n
}
