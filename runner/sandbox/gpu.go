package sandbox

import (
	"fmt"
	"os"
	"strconv"

	"rebench/internal/rebench"
)

// gpuNodes lists the device files for the leased minors that exist here.
func gpuNodes(minors []int) []string {
	if len(minors) == 0 {
		return nil
	}
	var out []string
	for _, path := range []string{"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"} {
		if _, err := os.Stat(path); err == nil {
			out = append(out, path)
		}
	}
	for _, m := range minors {
		out = append(out, "/dev/nvidia"+strconv.Itoa(m))
	}
	return out
}

func checkGPUs(minors []int) error {
	for _, m := range minors {
		path := fmt.Sprintf("/dev/nvidia%d", m)
		st, err := os.Stat(path)
		if m < 0 || err != nil || st.Mode()&os.ModeCharDevice == 0 {
			return rebench.Errorf(rebench.CodeInvalid, "GPU with device minor %d: %s is no device here", m, path)
		}
	}
	return nil
}
