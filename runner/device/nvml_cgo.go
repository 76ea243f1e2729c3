//go:build linux && cgo && nvml

package device

import (
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"rebench/internal/rebench"
)

// NVMLSupport says how this binary reads GPUs, for `runner doctor`.
const NVMLSupport = "NVML built in"

var nvmlOnce = sync.OnceValue(func() nvml.Return { return nvml.Init() })

// readNVML lists GPUs through libnvidia-ml.so.1, which go-nvml opens at run time.
func readNVML() ([]GPU, error) {
	switch ret := nvmlOnce(); ret {
	case nvml.SUCCESS:
	case nvml.ERROR_LIBRARY_NOT_FOUND, nvml.ERROR_DRIVER_NOT_LOADED, nvml.ERROR_FUNCTION_NOT_FOUND:
		return nil, errNoDriver
	default:
		return nil, rebench.Errorf(rebench.CodeInternal, "NVML does not start: %s", nvml.ErrorString(ret))
	}
	n, ret := nvml.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return nil, rebench.Errorf(rebench.CodeInternal, "NVML does not count devices: %s", nvml.ErrorString(ret))
	}
	driver, ret := nvml.SystemGetDriverVersion()
	if ret != nvml.SUCCESS {
		driver = ""
	}
	gpus := make([]GPU, 0, n)
	for i := range n {
		g, err := readNVMLDevice(i)
		if err != nil {
			return nil, err
		}
		g.Driver = driver
		gpus = append(gpus, g)
	}
	return gpus, nil
}

func readNVMLDevice(i int) (GPU, error) {
	fail := func(what string, ret nvml.Return) (GPU, error) {
		return GPU{}, rebench.Errorf(rebench.CodeInternal, "NVML does not give the %s of GPU %d: %s", what, i, nvml.ErrorString(ret))
	}
	d, ret := nvml.DeviceGetHandleByIndex(i)
	if ret != nvml.SUCCESS {
		return fail("handle", ret)
	}
	g := GPU{Index: i}
	if g.UUID, ret = d.GetUUID(); ret != nvml.SUCCESS {
		return fail("UUID", ret)
	}
	if g.Name, ret = d.GetName(); ret != nvml.SUCCESS {
		return fail("name", ret)
	}
	if g.Minor, ret = d.GetMinorNumber(); ret != nvml.SUCCESS {
		return fail("minor number", ret)
	}
	// Version 2 keeps what the driver reserves apart from what is in use.
	if m, ret := d.GetMemoryInfo_v2(); ret == nvml.SUCCESS {
		g.MemoryBytes, g.UsedBytes = m.Total, m.Used
	} else if m, ret := d.GetMemoryInfo(); ret == nvml.SUCCESS {
		g.MemoryBytes, g.UsedBytes = m.Total, m.Used
	} else {
		return fail("memory", ret)
	}
	if ps, ret := d.GetComputeRunningProcesses(); ret == nvml.SUCCESS {
		g.Processes = len(ps)
	}
	if mode, _, ret := d.GetMigMode(); ret == nvml.SUCCESS {
		g.MIG = mode == nvml.DEVICE_MIG_ENABLE
	}
	readNVMLState(d, &g)
	return g, nil
}

// readNVMLState fills what only describes the moment; a device need not know it.
func readNVMLState(d nvml.Device, g *GPU) {
	if u, ret := d.GetUtilizationRates(); ret == nvml.SUCCESS {
		g.Utilization = int(u.Gpu)
	}
	if mw, ret := d.GetPowerUsage(); ret == nvml.SUCCESS {
		g.PowerWatts = int(mw) / 1000
	}
	if c, ret := d.GetClockInfo(nvml.CLOCK_SM); ret == nvml.SUCCESS {
		g.SMClockMHz = int(c)
	}
	if t, ret := d.GetTemperature(nvml.TEMPERATURE_GPU); ret == nvml.SUCCESS {
		g.TemperatureC = int(t)
	}
	if p, ret := d.GetPersistenceMode(); ret == nvml.SUCCESS {
		g.PersistenceOn = p == nvml.FEATURE_ENABLED
	}
}
