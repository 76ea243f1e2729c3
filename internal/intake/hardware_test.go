package intake

import (
	"encoding/json"
	"testing"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

func TestHardwareClass(t *testing.T) {
	two, eight := int64(2), int64(8)
	cpu := func(model string, cpus *int64) *attemptlog.Hardware {
		h := &attemptlog.Hardware{CPUs: cpus}
		if model != "" {
			b, _ := json.Marshal(model)
			h.Extra = attemptlog.Extra{{Key: "cpu_model", Value: b}}
		}
		return h
	}
	for _, tc := range []struct {
		name    string
		profile rebench.Profile
		h       *attemptlog.Hardware
		want    string
	}{
		{"the paper's, unknown", rebench.ProfilePaper, nil, "h100"},
		{"the paper's", rebench.ProfilePaper, &attemptlog.Hardware{GPU: "NVIDIA H100 80GB HBM3", GPUCount: &eight}, "h100"},
		{"other GPUs at the paper's conditions", rebench.ProfilePaper, &attemptlog.Hardware{GPU: "NVIDIA A100", GPUCount: &eight}, "8 x nvidia a100"},
		{"one GPU", rebench.ProfileGPU, &attemptlog.Hardware{GPU: " NVIDIA H200 "}, "1 x nvidia h200"},
		{"one core of a machine", rebench.ProfileCPU, cpu("AMD EPYC", nil), "amd epyc"},
		{"two cores of the same", rebench.ProfileCPU, cpu("AMD EPYC", &two), "amd epyc"},
		{"an unknown processor", rebench.ProfileCPU, cpu("", &two), ""},
		{"nothing known", rebench.ProfileCPU, nil, ""},
	} {
		if got := HardwareClass(tc.profile, tc.h); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
