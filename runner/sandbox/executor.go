package sandbox

import (
	"context"
	"io"
	"os"
	"syscall"
	"time"
)

// Role says whose code a sandbox runs. As root each role has host users of its
// own, so that one role can neither signal, trace nor read another.
type Role string

// The roles.
const (
	RoleAgent      Role = "agent"
	RoleSubmission Role = "submission"
	RoleScorer     Role = "scorer"
)

// Executor starts sandboxes. It is safe for concurrent use.
type Executor interface {
	// Tier says how limits are enforced here, and what they do not contain.
	Tier() Tier

	// Root returns an allow-listed read-only root for spec, building it when
	// no earlier build fits (seconds for a toolchain, then cached).
	Root(ctx context.Context, spec RootSpec) (*Root, error)

	// Stage copies a trusted tree to a place that sandboxes can read, under the
	// name of its content, so that what runs is what was hashed.
	Stage(ctx context.Context, src string) (Staged, error)

	// NewWorkspace makes an empty directory that a sandbox of the given role
	// may write, bounded in bytes and inodes.
	NewWorkspace(ctx context.Context, spec WorkspaceSpec) (Workspace, error)

	// OpenWorkspace opens a workspace that an earlier runner left and Recover
	// kept; CodeNotFound when there is none.
	OpenWorkspace(ctx context.Context, name string) (Workspace, error)

	// Start starts one sandbox. It is killed when ctx ends, when its wall limit
	// is over, or by Kill. An error means that the sandbox could not be set up.
	Start(ctx context.Context, spec Spec) (Process, error)

	// Recover kills and removes whatever runners that no longer live have left
	// (processes, control groups, mounts). Workspaces of dead runners are kept
	// and named in the result when keep says so.
	Recover(ctx context.Context, keep func(workspace string) bool) (Recovered, error)

	// Close kills every sandbox of this executor and removes its traces.
	Close() error
}

// Process is a running sandbox: all processes in it are one unit.
type Process interface {
	// Freeze returns when every thread of the sandbox has stopped running.
	// The wall limit does not run while frozen. Freezing twice is no error.
	Freeze(ctx context.Context) error
	// Thaw lets a frozen sandbox run on.
	Thaw(ctx context.Context) error
	// Kill ends every process of the sandbox and returns when none is left.
	// Killing an ended sandbox is no error.
	Kill(ctx context.Context) error
	// Done is closed when every process of the sandbox is gone and its output
	// has been delivered.
	Done() <-chan struct{}
	// Wait waits for Done or ctx. Its error is ctx's, or one of CodeInternal
	// when the sandbox never came to run its program.
	Wait(ctx context.Context) (Result, error)
	// Usage reads the counters of a running sandbox.
	Usage() Usage
}

// Cause says why a sandbox ended.
type Cause string

// Causes of an end.
const (
	CauseExit    Cause = "exit"    // the program exited by itself
	CauseSignal  Cause = "signal"  // a signal from inside ended it
	CauseTimeout Cause = "timeout" // Limits.Wall was over
	CauseOOM     Cause = "oom"     // Limits.MemoryBytes was reached
	CauseLimit   Cause = "limit"   // the watchdog of the weak tier found another limit exceeded
	CauseKilled  Cause = "killed"  // Kill, the end of the context, or Close
)

// Result is how a sandbox ended.
type Result struct {
	Cause    Cause
	ExitCode int            // 0..255 with CauseExit, else -1
	Signal   syscall.Signal // with CauseSignal, else 0
	Detail   string         // for people, e.g. which limit
	Wall     time.Duration  // from start to end, frozen time left out
	Frozen   time.Duration  // time spent frozen
	Usage    Usage
	// StdoutBytes and StderrBytes count all that was written, also what the
	// caller's writers were spared (Limits.OutputBytes).
	StdoutBytes, StderrBytes int64
}

// Usage holds counters of a sandbox; a negative value is unknown in this tier.
type Usage struct {
	CPU             time.Duration // user and system time of all its processes
	MemoryPeakBytes int64
	PIDs            int64 // processes and threads now
}

// Spec describes one sandbox.
type Spec struct {
	Name   string            // short label for logs: lower-case letters, digits, dashes
	Role   Role              // whose code it is
	Root   *Root             // from Executor.Root
	Argv   []string          // Argv[0] is looked up in the sandbox's PATH
	Env    map[string]string // on top of BaseEnv; nothing of the runner's environment passes
	Dir    string            // working directory inside; "/" when empty
	Mounts []Mount
	Limits Limits
	GPUs   []int // device minors M of /dev/nvidiaM to bind
	// NoInternet denies AF_INET and AF_INET6 sockets, whose timers and packets
	// the kernel serves also while the sandbox is frozen, at others' expense.
	NoInternet bool

	Stdin          io.Reader  // nil: empty
	Stdout, Stderr io.Writer  // nil: discarded; each gets at most Limits.OutputBytes
	Files          []*os.File // become descriptors 3 and 4; the caller closes its own
	// Terminal, when set, is the slave side of a pseudo-terminal of the
	// runner's own; it replaces Stdin, Stdout and Stderr (human solvers).
	Terminal *os.File
}

// Mount puts something at Target inside the sandbox. Exactly one of Source,
// Workspace, Data and Tmpfs is set. Unless Writable is set it is read-only.
type Mount struct {
	Target     string    // absolute, clean
	Source     string    // host file, directory or unix socket
	Workspace  Workspace // from the same executor
	Data       []byte    // contents of a regular file
	Tmpfs      *Space    // an empty writable directory, gone with the sandbox
	Writable   bool
	Executable bool // with Data: the file may be executed
}

// Space bounds a writable place.
type Space struct {
	Bytes  int64
	Inodes int64
}

// Limits of one sandbox. Zero means the default of DefaultLimits.
type Limits struct {
	Wall        time.Duration // negative: none (agents, whose clock is the attempt's)
	MemoryBytes int64         // all processes, tmpfs and shared memory included
	CPUs        float64       // share of processor time, e.g. 1.5
	CPUSet      string        // cores to run on, e.g. "0-1"; "": all
	CPUWeight   int64         // 1..10000: part of a busy machine it gets; 0: 100, as any other process (not in the weak tier)
	PIDs        int64         // processes and threads
	OpenFiles   int64         // per process
	FileBytes   int64         // largest single file
	OutputBytes int64         // of each of stdout and stderr kept; the rest is read and dropped
	Tmp         Space         // of /tmp and of /dev/shm, each
}

// DefaultLimits is what a zero field of Limits means.
var DefaultLimits = Limits{
	Wall:        60 * time.Second,
	MemoryBytes: 2 << 30,
	CPUs:        1,
	PIDs:        128,
	OpenFiles:   256,
	FileBytes:   1 << 30,
	OutputBytes: 64 << 10,
	Tmp:         Space{Bytes: 256 << 20, Inodes: 20_000},
}

// WorkspaceSpec describes a Workspace.
type WorkspaceSpec struct {
	Name string // unique on this machine: lower-case letters, digits, dashes
	Role Role   // which role may write it
	Space
}

// Workspace is a bounded directory on the host that sandboxes of one role may
// be given. All sandboxes that mount it writable run as its host user.
type Workspace interface {
	Name() string
	// Path is the directory on the host. Nothing in it is to be trusted:
	// read it through Snapshot and Collect only.
	Path() string
	// Fill copies the tree src into the workspace, owned by its user. src is
	// read under the rules of Snapshot.
	Fill(ctx context.Context, src string) error
	// Snapshot copies the subdirectory sub ("." for all) to the new directory
	// dst. Freeze whatever can write to the workspace first.
	Snapshot(ctx context.Context, sub, dst string, limits SnapshotLimits) (Snapshot, error)
	// Collect returns a sealed in-memory copy of one regular file.
	Collect(ctx context.Context, path string, maxBytes int64) (*os.File, error)
	// Close removes the workspace and all in it.
	Close() error
}

// Recovered says what Recover found.
type Recovered struct {
	Killed     int      // processes
	Groups     int      // control groups removed
	Workspaces []string // names of workspaces kept, open with OpenWorkspace
}

// Staged is a trusted tree as sandboxes see it.
type Staged struct {
	Path   string // on the host, read-only to sandboxes
	SHA256 string // of the tree: see TreeHash
}
