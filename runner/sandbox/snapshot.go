package sandbox

import "fmt"

// SnapshotLimits bounds what Snapshot accepts. Zero means the default of
// DefaultSnapshotLimits.
type SnapshotLimits struct {
	Bytes     int64 // sum of the files' sizes
	FileBytes int64 // largest file
	Files     int   // regular files and directories
	Depth     int   // directories below the top
	NameBytes int   // of one name
}

// DefaultSnapshotLimits is what a zero field of SnapshotLimits means.
var DefaultSnapshotLimits = SnapshotLimits{
	Bytes: 256 << 20, FileBytes: 256 << 20, Files: 2_000, Depth: 16, NameBytes: 128,
}

// Snapshot is a copy of a solution.
type Snapshot struct {
	Dir    string
	SHA256 string // TreeHash of Dir
	Files  int
	Bytes  int64
}

// RefusedError says that a tree holds something a snapshot does not take. It is
// the solver's fault: the message may be shown to them.
type RefusedError struct {
	Path   string // relative, quoted when it has odd characters
	Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("solution refused: %s: %s", e.Path, e.Reason)
}
