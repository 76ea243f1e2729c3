package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32Bit    = 0 // no second interface
)

// archDenied are denied calls that only this architecture has.
var archDenied []uint32
