package upload

import (
	"runtime/debug"
	"sync"
)

// importGCPercent is how much garbage may gather, in percent of what is in use, while
// files are decoded. They make much of it fast, and at Go's 100 percent an upload
// would take twice the memory that it needs.
const importGCPercent = 40

var frugality struct {
	sync.Mutex
	imports int
	before  int
}

// frugal collects garbage earlier until the returned function is called.
func frugal() (end func()) {
	f := &frugality
	f.Lock()
	defer f.Unlock()
	if f.imports++; f.imports == 1 {
		if f.before = debug.SetGCPercent(importGCPercent); f.before >= 0 && f.before < importGCPercent {
			debug.SetGCPercent(f.before) // asked for by the environment
		}
	}
	return func() {
		f.Lock()
		defer f.Unlock()
		if f.imports--; f.imports == 0 {
			debug.SetGCPercent(f.before)
		}
	}
}
