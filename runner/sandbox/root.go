package sandbox

// RootSpec says what a sandbox's read-only root holds beyond a shell, the
// core utilities and the Python interpreter with its standard library.
type RootSpec struct {
	// Python is the interpreter, "/usr/bin/python3" when empty.
	Python string
	// PythonModules are importable names, e.g. "numpy"; what importing them
	// loads comes along.
	PythonModules []string
	// Tools are named sets, see ToolSets: "cc", "rust", "edit".
	Tools []string
	// Extra are further host files or directories, kept at their paths. For a
	// program its shared libraries come along.
	Extra []string
	// NVIDIA adds the driver's user-space libraries.
	NVIDIA bool
}

// Root is a built root.
type Root struct {
	Dir    string   // image on the host, holds usr, etc
	Binds  []string // host directories too large to copy, bound at their own paths
	SHA256 string   // of the list of paths, sizes and times it was built from
	Python string   // path of the interpreter inside
	Path   string   // value of PATH inside
}
