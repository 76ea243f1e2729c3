package device

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	"rebench/internal/rebench"
)

// GPU is one NVIDIA device.
type GPU struct {
	Index         int    `json:"index"`          // NVML's index
	Minor         int    `json:"minor"`          // M of /dev/nvidiaM, which is not the index
	UUID          string `json:"uuid"`           // GPU-xxxxxxxx-...
	Name          string `json:"name"`           // e.g. "NVIDIA H100 80GB HBM3"
	Driver        string `json:"driver"`         // driver version
	MemoryBytes   uint64 `json:"memory_bytes"`   // total
	UsedBytes     uint64 `json:"used_bytes"`     // in use, without what the driver reserves where it says so
	Processes     int    `json:"processes"`      // compute processes the caller may see; in a container often 0
	MIG           bool   `json:"mig"`            // multi-instance mode is on: not leased
	Utilization   int    `json:"utilization"`    // percent over the driver's last sample
	PowerWatts    int    `json:"power_watts"`    // at the moment of the reading, 0 when unknown
	SMClockMHz    int    `json:"sm_clock_mhz"`   // at the moment of the reading, 0 when unknown
	TemperatureC  int    `json:"temperature_c"`  // 0 when unknown
	PersistenceOn bool   `json:"persistence_on"` // persistence mode
}

// DeviceNode is the path of the GPU's device file.
func (g GPU) DeviceNode() string { return fmt.Sprintf("/dev/nvidia%d", g.Minor) }

// uuidPattern guards the use of a UUID in a file name.
var uuidPattern = regexp.MustCompile(`^(GPU|MIG)-[0-9A-Za-z-]{8,64}$`)

// Inventory lists the machine's GPUs. A machine without any gives an empty list
// and no error; an error means that GPUs seem to exist but cannot be read.
type Inventory interface {
	GPUs(ctx context.Context) ([]GPU, error)
}

// errNoDriver says that a reader is not usable on this machine.
var errNoDriver = errors.New("no NVIDIA driver")

// System is the inventory of the machine it runs on.
type System struct{}

// GPUs reads the inventory through NVML, else through nvidia-smi.
func (System) GPUs(ctx context.Context) ([]GPU, error) {
	gpus, err := readNVML()
	if errors.Is(err, errNoDriver) {
		gpus, err = readSMI(ctx)
	}
	if errors.Is(err, errNoDriver) {
		if _, serr := os.Stat("/dev/nvidiactl"); serr == nil {
			return nil, rebench.Errorf(rebench.CodeInternal,
				"/dev/nvidiactl exists, but neither NVML (%s) nor nvidia-smi can be used", NVMLSupport)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, g := range gpus {
		if !uuidPattern.MatchString(g.UUID) {
			return nil, rebench.Errorf(rebench.CodeInternal, "GPU %d reports the unusable UUID %q", g.Index, g.UUID)
		}
	}
	return gpus, nil
}

// Free memory rule: a GPU counts as idle while at most FreeSlack bytes are in
// use and no compute process shows. Idle drivers hold up to several hundred MB.
const FreeSlack = 1 << 30

// BusyError says which GPU is in use by something else.
type BusyError struct {
	GPU GPU
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("GPU %d (%s) is in use: %d MiB of memory, %d compute processes",
		e.GPU.Index, e.GPU.UUID, e.GPU.UsedBytes>>20, e.GPU.Processes)
}

func idle(g GPU) bool { return g.Processes == 0 && g.UsedBytes <= FreeSlack }

// CheckIdle returns a *BusyError unless every GPU with one of the UUIDs is idle
// within grace. Contexts of a killed process take moments to go.
func CheckIdle(ctx context.Context, inv Inventory, uuids []string, grace time.Duration) error {
	if len(uuids) == 0 {
		return nil
	}
	deadline := time.Now().Add(grace)
	for {
		err := checkIdleOnce(ctx, inv, uuids)
		var busy *BusyError
		if err == nil || !errors.As(err, &busy) || !time.Now().Before(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func checkIdleOnce(ctx context.Context, inv Inventory, uuids []string) error {
	gpus, err := inv.GPUs(ctx)
	if err != nil {
		return err
	}
	byUUID := make(map[string]GPU, len(gpus))
	for _, g := range gpus {
		byUUID[g.UUID] = g
	}
	for _, id := range uuids {
		g, ok := byUUID[id]
		if !ok {
			return rebench.Errorf(rebench.CodeInternal, "GPU %s is gone from the inventory", id)
		}
		if !idle(g) {
			return &BusyError{GPU: g}
		}
	}
	return nil
}

// WaitQuiet waits until the GPUs with the given UUIDs have executed nothing over
// the driver's last sample (up to a second): kernels that a process queued run
// on while the process is frozen.
func WaitQuiet(ctx context.Context, inv Inventory, uuids []string) error {
	if len(uuids) == 0 {
		return nil
	}
	for {
		gpus, err := inv.GPUs(ctx)
		if err != nil {
			return err
		}
		quiet := true
		for _, g := range gpus {
			if slices.Contains(uuids, g.UUID) && g.Utilization > 0 {
				quiet = false
			}
		}
		if quiet {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
