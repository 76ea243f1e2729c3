package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rebench/runner/device"
	"rebench/runner/environment"
	"rebench/runner/sandbox"
)

// check is one line of `runner doctor`.
type check struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, warning, missing
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"`
}

const (
	checkOK      = "ok"
	checkWarning = "warning" // works, with less than there could be
	checkMissing = "missing" // attempts cannot run
)

func newDoctorCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can do, and how to get what is missing",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks := g.doctor(cmd.Context())
			missing := 0
			for _, c := range checks {
				if c.State == checkMissing {
					missing++
				}
			}
			if g.json {
				if err := g.print(os.Stdout, map[string]any{"checks": checks}); err != nil {
					return err
				}
			} else {
				for _, c := range checks {
					fmt.Printf("%-8s %-22s %s\n", c.State, c.Name, c.Found)
					if c.Remedy != "" {
						fmt.Printf("%-8s %-22s -> %s\n", "", "", c.Remedy)
					}
				}
			}
			if missing > 0 {
				return &exitError{exitLacking, fmt.Errorf("%d requirements are missing", missing)}
			}
			return nil
		},
	}
}

func (g *globals) doctor(ctx context.Context) []check {
	var out []check
	out = append(out, g.checkSandbox(ctx)...)
	out = append(out, checkHardware(ctx)...)
	out = append(out, checkTool(ctx, checkMissing, "python3", "/usr/bin/python3", []string{"--version"}, "Debian: apt-get install python3"))
	out = append(out, checkModules(ctx)...)
	out = append(out,
		checkTool(ctx, checkWarning, "C compiler", "/usr/bin/gcc", []string{"--version"}, "Debian: apt-get install gcc libc6-dev (optimize_kernel)"),
		checkTool(ctx, checkWarning, "Rust compiler", "/usr/bin/rustc", []string{"--version"}, "Debian: apt-get install rustc (rust_codecontests)"))
	return append(out, g.checkPlaces()...)
}

// checkSandbox starts a sandbox for real.
func (g *globals) checkSandbox(ctx context.Context) []check {
	ex, err := sandbox.New(sandboxConfig(g.logger()))
	if err != nil {
		return []check{{"sandbox", checkMissing, err.Error(), "Debian: apt-get install bubblewrap; run as root on a dedicated machine for the strongest tier"}}
	}
	defer ex.Close()
	begin := time.Now()
	err = startOnce(ctx, ex)
	if err != nil {
		return []check{{"sandbox", checkMissing, "a sandbox does not start: " + err.Error(), "see user namespaces: sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns"}}
	}
	out := []check{{"sandbox", checkOK, fmt.Sprintf("bubblewrap works (root built and one sandbox run in %v)", time.Since(begin).Round(time.Millisecond)), ""}}
	tier := ex.Tier()
	c := check{"limits tier", checkOK, fmt.Sprintf("%s, controllers %s", tier.Name, strings.Join(tier.Controllers, " ")), ""}
	if tier.Name == sandbox.TierRlimit {
		c.State, c.Remedy = checkWarning, "run as root, or under systemd with Delegate=yes, for control groups"
	}
	out = append(out, c)
	users := check{"separate users", checkOK, "agent, submission and scorer run as three host users", ""}
	if !tier.SeparateUsers {
		users = check{"separate users", checkWarning, "agent, submission and scorer share the runner's user", "run as root on a dedicated machine"}
	}
	out = append(out, users)
	for _, gap := range tier.Gaps {
		out = append(out, check{"not contained", checkWarning, gap, ""})
	}
	return out
}

func startOnce(ctx context.Context, ex sandbox.Executor) error {
	root, err := ex.Root(ctx, sandbox.RootSpec{})
	if err != nil {
		return err
	}
	proc, err := ex.Start(ctx, sandbox.Spec{Name: "doctor", Role: sandbox.RoleAgent, Root: root, Argv: []string{"/bin/sh", "-c", "exit 7"}})
	if err != nil {
		return err
	}
	res, err := proc.Wait(ctx)
	if err != nil {
		return err
	}
	if res.Cause != sandbox.CauseExit || res.ExitCode != 7 {
		return fmt.Errorf("a program that exits with 7 ended by %s %d %s", res.Cause, res.ExitCode, res.Detail)
	}
	return nil
}

func checkHardware(ctx context.Context) []check {
	gpus, err := device.System{}.GPUs(ctx)
	hw, herr := device.Describe(gpus)
	var out []check
	if herr != nil {
		out = append(out, check{"processor", checkMissing, herr.Error(), ""})
	} else {
		out = append(out, check{"processor", checkOK, fmt.Sprintf("%d x %s, %d GB, fingerprint %s", hw.CPUs, hw.CPUModel, hw.RAMGB, hw.Fingerprint()), ""})
	}
	switch {
	case err != nil:
		out = append(out, check{"GPUs", checkWarning, err.Error(), "install NVIDIA's driver with nvidia-smi, or build with -tags nvml"})
	case len(gpus) == 0:
		out = append(out, check{"GPUs", checkWarning, "none (" + device.NVMLSupport + ")", "profiles gpu and paper need an NVIDIA GPU with its driver"})
	}
	for _, gpu := range gpus {
		c := check{"GPU", checkOK, fmt.Sprintf("%d: %s, %d MiB, driver %s, %s", gpu.Index, gpu.Name, gpu.MemoryBytes>>20, gpu.Driver, gpu.UUID), ""}
		if gpu.MIG {
			c.State, c.Remedy = checkWarning, "MIG mode is on: this GPU is not leased"
		}
		out = append(out, c)
	}
	return out
}

func checkTool(ctx context.Context, absent, name, program string, args []string, remedy string) check {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return check{name, absent, fmt.Sprintf("%s: %v", program, err), remedy}
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return check{name, checkOK, first, ""}
}

// checkModules asks the interpreter that sandboxes use.
func checkModules(ctx context.Context) []check {
	var out []check
	for _, m := range []struct{ name, for_ string }{{"numpy", "optimize_kernel and others"}, {"torch", "all environments that train"}} {
		code := fmt.Sprintf("import %s; print(%s.__version__)", m.name, m.name)
		c := checkTool(ctx, checkWarning, "Python "+m.name, "/usr/bin/python3", []string{"-I", "-c", code},
			fmt.Sprintf("Debian: apt-get install python3-%s (%s)", m.name, m.for_))
		out = append(out, c)
	}
	return out
}

func (g *globals) checkPlaces() []check {
	var out []check
	state, err := g.openState()
	if err != nil {
		out = append(out, check{"state directory", checkMissing, err.Error(), "set --state-dir"})
	} else {
		out = append(out, check{"state directory", checkOK, state.Dir, ""})
	}
	locks, err := device.OpenLocks("")
	if err != nil {
		out = append(out, check{"device leases", checkMissing, err.Error(), "set " + device.LockDirVariable})
	} else {
		out = append(out, check{"device leases", checkOK, locks.Dir(), ""})
	}
	root, err := environment.Find(g.environments)
	if err != nil {
		return append(out, check{"environments", checkMissing, err.Error(), ""})
	}
	envs, err := environment.LoadAll(root)
	var names []string
	for _, e := range envs {
		names = append(names, string(e.ID))
	}
	c := check{"environments", checkOK, fmt.Sprintf("%s: %s", root, strings.Join(names, ", ")), ""}
	if err != nil {
		c.State, c.Remedy = checkWarning, err.Error()
	}
	if len(envs) == 0 {
		c.State, c.Found = checkMissing, "none in "+root
	}
	return append(out, c)
}
