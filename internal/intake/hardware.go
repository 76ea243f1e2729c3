package intake

import (
	"encoding/json"
	"fmt"
	"strings"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// classPaper is the hardware class of the paper's conditions.
const classPaper = "h100"

// HardwareClass groups machines whose results may be ranked together. The paper's
// conditions are one class; elsewhere it is the GPU model and count, or the CPU
// model: how many cores an attempt has is set by its environment, so that counting
// them would keep the environments of one machine apart. It is "" where nothing is
// known.
func HardwareClass(profile rebench.Profile, h *attemptlog.Hardware) string {
	if profile == rebench.ProfilePaper && (h == nil || h.GPU == "" || strings.Contains(strings.ToLower(h.GPU), "h100")) {
		return classPaper
	}
	if h == nil {
		return ""
	}
	if h.GPU != "" {
		n := int64(1)
		if h.GPUCount != nil {
			n = *h.GPUCount
		}
		return fmt.Sprintf("%d x %s", n, strings.ToLower(strings.TrimSpace(h.GPU)))
	}
	var model string
	_ = json.Unmarshal(h.Extra.Get("cpu_model"), &model)
	return strings.ToLower(strings.TrimSpace(model))
}

// hardwareJSON is the hardware as a flat JSON object, "" when nothing is known.
func hardwareJSON(h *attemptlog.Hardware) (string, error) {
	if h == nil {
		return "", nil
	}
	facts := map[string]any{}
	if h.GPU != "" {
		facts["gpu"] = h.GPU
	}
	if h.GPUCount != nil {
		facts["gpu_count"] = *h.GPUCount
	}
	if h.CPUs != nil {
		facts["cpus"] = *h.CPUs
	}
	if h.RAMGB != nil {
		facts["ram_gb"] = *h.RAMGB
	}
	for _, m := range h.Extra {
		facts[m.Key] = m.Value
	}
	b, err := json.Marshal(facts)
	return string(b), err
}
