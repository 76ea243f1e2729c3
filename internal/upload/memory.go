package upload

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// importBytes is how much memory Go may take for decoding files before it collects
// garbage harder. They make much of it, and what gathers at Go's usual pace is as much
// again as is in use.
const importBytes = 40 << 20

var frugality struct {
	sync.Mutex
	imports int
	before  int64
}

// frugal bounds the memory of decoding, softly, until the returned function is called.
func frugal() (end func()) {
	f := &frugality
	f.Lock()
	defer f.Unlock()
	if f.imports++; f.imports == 1 {
		f.before = debug.SetMemoryLimit(-1)
		debug.SetMemoryLimit(min(f.before, memoryInUse()+importBytes))
	}
	return func() {
		f.Lock()
		defer f.Unlock()
		if f.imports--; f.imports == 0 {
			debug.SetMemoryLimit(f.before)
		}
	}
}

// memoryInUse is what counts towards Go's memory limit.
func memoryInUse() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
