package device

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"rebench/internal/rebench"
)

// readSMI lists GPUs from `nvidia-smi -q -x`.
func readSMI(ctx context.Context) ([]GPU, error) {
	path, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, errNoDriver
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-q", "-x")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		// 9 and 6: no driver or no device (nvidia-smi(1), return value).
		var exit *exec.ExitError
		if errors.As(err, &exit) && (exit.ExitCode() == 9 || exit.ExitCode() == 6) {
			return nil, errNoDriver
		}
		return nil, rebench.Errorf(rebench.CodeInternal, "nvidia-smi -q -x: %w: %s", err, firstLine(string(out)+stderr.String()))
	}
	return parseSMI(out)
}

func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	return s
}

type smiLog struct {
	Driver string   `xml:"driver_version"`
	GPUs   []smiGPU `xml:"gpu"`
}

type smiGPU struct {
	Name        string `xml:"product_name"`
	UUID        string `xml:"uuid"`
	Minor       string `xml:"minor_number"`
	MIG         string `xml:"mig_mode>current_mig"`
	Total       string `xml:"fb_memory_usage>total"`
	Used        string `xml:"fb_memory_usage>used"`
	Utilization string `xml:"utilization>gpu_util"`
	Persistence string `xml:"persistence_mode"`
	Temperature string `xml:"temperature>gpu_temp"`
	SMClock     string `xml:"clocks>sm_clock"`
	Processes   []struct {
		Type string `xml:"type"`
	} `xml:"processes>process_info"`
}

// parseSMI reads nvidia-smi's XML. Memory is written "81559 MiB", unknown values "N/A".
func parseSMI(data []byte) ([]GPU, error) {
	var log smiLog
	dec := xml.NewDecoder(bytes.NewReader(data))
	dec.Strict = true
	if err := dec.Decode(&log); err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "nvidia-smi's XML is not readable: %w", err)
	}
	gpus := make([]GPU, 0, len(log.GPUs))
	for i, s := range log.GPUs {
		minor, err := strconv.Atoi(strings.TrimSpace(s.Minor))
		if err != nil {
			return nil, rebench.Errorf(rebench.CodeInternal, "nvidia-smi: GPU %d: minor_number is %q, expected a number", i, s.Minor)
		}
		total, ok := smiNumber(s.Total)
		used, ok2 := smiNumber(s.Used)
		if !ok || !ok2 {
			return nil, rebench.Errorf(rebench.CodeInternal, "nvidia-smi: GPU %d: memory is %q of %q, expected MiB", i, s.Used, s.Total)
		}
		g := GPU{
			Index: i, Minor: minor, UUID: strings.TrimSpace(s.UUID), Name: strings.TrimSpace(s.Name), Driver: strings.TrimSpace(log.Driver),
			MemoryBytes: uint64(total) << 20, UsedBytes: uint64(used) << 20,
			MIG: strings.TrimSpace(s.MIG) == "Enabled", PersistenceOn: strings.TrimSpace(s.Persistence) == "Enabled",
		}
		g.Utilization, _ = smiNumber(s.Utilization)
		g.TemperatureC, _ = smiNumber(s.Temperature)
		g.SMClockMHz, _ = smiNumber(s.SMClock)
		for _, p := range s.Processes {
			if strings.Contains(p.Type, "C") {
				g.Processes++
			}
		}
		gpus = append(gpus, g)
	}
	return gpus, nil
}

// smiNumber reads the number of "81559 MiB"; ok is false for "N/A".
func smiNumber(s string) (n int, ok bool) {
	f := strings.Fields(s)
	if len(f) == 0 {
		return 0, false
	}
	n, err := strconv.Atoi(f[0])
	return n, err == nil && n >= 0
}
