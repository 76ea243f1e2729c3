package device

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// An abridged answer of `nvidia-smi -q -x`, one GPU busy, one in MIG mode.
const smiXML = `<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<driver_version>550.54.15</driver_version>
	<attached_gpus>3</attached_gpus>
	<gpu id="00000000:18:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<persistence_mode>Enabled</persistence_mode>
		<mig_mode><current_mig>Disabled</current_mig><pending_mig>Disabled</pending_mig></mig_mode>
		<uuid>GPU-11111111-aaaa-bbbb-cccc-000000000001</uuid>
		<minor_number>4</minor_number>
		<fb_memory_usage><total>81559 MiB</total><reserved>551 MiB</reserved><used>4 MiB</used><free>81003 MiB</free></fb_memory_usage>
		<bar1_memory_usage><total>131072 MiB</total><used>1 MiB</used></bar1_memory_usage>
		<utilization><gpu_util>3 %</gpu_util><memory_util>0 %</memory_util></utilization>
		<temperature><gpu_temp>31 C</gpu_temp></temperature>
		<clocks><graphics_clock>345 MHz</graphics_clock><sm_clock>345 MHz</sm_clock></clocks>
		<processes></processes>
	</gpu>
	<gpu id="00000000:2A:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<uuid>GPU-11111111-aaaa-bbbb-cccc-000000000002</uuid>
		<minor_number>5</minor_number>
		<fb_memory_usage><total>81559 MiB</total><used>20000 MiB</used></fb_memory_usage>
		<utilization><gpu_util>N/A</gpu_util></utilization>
		<processes>
			<process_info><pid>1</pid><type>C</type></process_info>
			<process_info><pid>2</pid><type>G</type></process_info>
			<process_info><pid>3</pid><type>C+G</type></process_info>
		</processes>
	</gpu>
	<gpu id="00000000:3A:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<mig_mode><current_mig>Enabled</current_mig></mig_mode>
		<uuid>GPU-11111111-aaaa-bbbb-cccc-000000000003</uuid>
		<minor_number>0</minor_number>
		<fb_memory_usage><total>81559 MiB</total><used>0 MiB</used></fb_memory_usage>
	</gpu>
</nvidia_smi_log>`

func TestParseSMI(t *testing.T) {
	got, err := parseSMI([]byte(smiXML))
	if err != nil {
		t.Fatal(err)
	}
	const name, driver = "NVIDIA H100 80GB HBM3", "550.54.15"
	want := []GPU{
		{Index: 0, Minor: 4, UUID: "GPU-11111111-aaaa-bbbb-cccc-000000000001", Name: name, Driver: driver, MemoryBytes: 81559 << 20, UsedBytes: 4 << 20,
			Utilization: 3, SMClockMHz: 345, TemperatureC: 31, PersistenceOn: true},
		{Index: 1, Minor: 5, UUID: "GPU-11111111-aaaa-bbbb-cccc-000000000002", Name: name, Driver: driver, MemoryBytes: 81559 << 20, UsedBytes: 20000 << 20, Processes: 2},
		{Index: 2, Minor: 0, UUID: "GPU-11111111-aaaa-bbbb-cccc-000000000003", Name: name, Driver: driver, MemoryBytes: 81559 << 20, MIG: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got[0].DeviceNode() != "/dev/nvidia4" {
		t.Error(got[0].DeviceNode())
	}
	for name, bad := range map[string]string{
		"no XML": "Failed to initialize NVML", "minor": strings.Replace(smiXML, "<minor_number>4", "<minor_number>N/A", 1),
		"memory": strings.Replace(smiXML, "<used>4 MiB", "<used>N/A", 1), "cut": smiXML[:900],
	} {
		if _, err := parseSMI([]byte(bad)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// The reader of nvidia-smi, with programs that play it.
func TestReadSMI(t *testing.T) {
	play := func(text string) ([]GPU, error) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":/usr/bin:/bin")
		return readSMI(context.Background())
	}
	gpus, err := play("test \"$1 $2\" = '-q -x' || exit 3\ncat <<'END'\n" + smiXML + "\nEND\n")
	if err != nil || len(gpus) != 3 {
		t.Errorf("%d GPUs, %v", len(gpus), err)
	}
	for _, status := range []string{"9", "6"} {
		if _, err := play("echo No devices; exit " + status); !errors.Is(err, errNoDriver) {
			t.Errorf("status %s: %v", status, err)
		}
	}
	if _, err := play("echo Driver/library version mismatch; exit 18"); err == nil || errors.Is(err, errNoDriver) || !strings.Contains(err.Error(), "mismatch") {
		t.Errorf("a broken driver: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := readSMI(context.Background()); !errors.Is(err, errNoDriver) {
		t.Errorf("no program: %v", err)
	}
}

func TestWaitQuiet(t *testing.T) {
	working, other := gpuN(0), gpuN(1)
	working.Utilization, other.Utilization = 40, 100
	gpus := &fakeGPUs{gpus: []GPU{working, other}}
	short, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := WaitQuiet(short, gpus, []string{working.UUID}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a working GPU: %v", err)
	}
	go func() {
		time.Sleep(50 * time.Millisecond)
		gpus.mu.Lock()
		gpus.gpus[0].Utilization = 0
		gpus.mu.Unlock()
	}()
	if err := WaitQuiet(context.Background(), gpus, []string{working.UUID}); err != nil {
		t.Error(err)
	}
	if err := WaitQuiet(context.Background(), nil, nil); err != nil {
		t.Error(err)
	}
}

// System on this machine: GPUs or none, but never an error without a driver.
func TestSystemInventory(t *testing.T) {
	gpus, err := System{}.GPUs(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d GPUs (%s)", len(gpus), NVMLSupport)
	for _, g := range gpus {
		if _, err := os.Stat(g.DeviceNode()); err != nil {
			t.Error(err)
		}
	}
}
