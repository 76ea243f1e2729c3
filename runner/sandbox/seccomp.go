package sandbox

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data (linux/seccomp.h); arguments are 8 bytes each,
// little-endian on the machines supported here.
const (
	offNr   = 0
	offArch = 4
	offArg0 = 16
	offArg1 = 24
	offArg2 = 32
)

const (
	retAllow = 0x7fff0000 // SECCOMP_RET_ALLOW
	retErrno = 0x00050000 // SECCOMP_RET_ERRNO
	retKill  = 0x80000000 // SECCOMP_RET_KILL_PROCESS
)

// namespaceFlags are the CLONE_NEW* flags of clone(2).
const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME

// deniedCalls answer EPERM: they reach into other processes, the kernel or the
// machine, or create namespaces. The namespaces already forbid most; the filter
// takes their kernel code out of reach.
var deniedCalls = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_MADVISE,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOUNT_SETATTR, unix.SYS_MOVE_MOUNT,
	unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	// Timers beyond the one of a thread's own sleep: a process may set as many as the
	// kernel holds, and all interrupt whatever runs when the sandbox has been stopped.
	unix.SYS_TIMER_CREATE, unix.SYS_TIMERFD_CREATE,
}

// allowedFamilies returns the socket families that may be made. AF_VSOCK above all
// may not: it is not confined by a network namespace and reaches a virtual
// machine's host. Of AF_NETLINK only the routing protocol is let through.
func (opt filterOptions) allowedFamilies() []uint32 {
	if opt.noInternet {
		return []uint32{unix.AF_UNIX}
	}
	return []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6}
}

// program builds a classic BPF program.
type program []unix.SockFilter

func (p *program) load(off uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off})
}

func (p *program) ret(k uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k})
}

// jump skips jt instructions if the comparison holds, else jf.
func (p *program) jump(op uint16, k uint32, jt, jf uint8) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: jt, Jf: jf, K: k})
}

// on appends body, run only for system call nr (which is in the accumulator);
// body must return or leave the accumulator for reloadNr.
func (p *program) on(nr uint32, body program) {
	body.load(offNr)
	p.jump(unix.BPF_JEQ, nr, 0, uint8(len(body)))
	*p = append(*p, body...)
}

// filterOptions varies the system call filter.
type filterOptions struct {
	// noHiddenMemory denies memory that belongs to no process and that the
	// watchdog of the weak tier therefore cannot see.
	noHiddenMemory bool
	noInternet     bool // as Spec.NoInternet
}

// seccompFilter returns the filter in the form bubblewrap's --seccomp reads.
func seccompFilter(opt filterOptions) []byte {
	const eperm, enosys, enoproto = retErrno | uint32(unix.EPERM), retErrno | uint32(unix.ENOSYS), retErrno | uint32(unix.EAFNOSUPPORT)
	var p program
	p.load(offArch)
	p.jump(unix.BPF_JEQ, auditArch, 1, 0)
	p.ret(retKill)
	p.load(offNr)
	if x32Bit != 0 {
		p.jump(unix.BPF_JGE, x32Bit, 0, 1)
		p.ret(enosys)
	}
	denied := append(append([]uint32(nil), deniedCalls...), archDenied...)
	if opt.noHiddenMemory {
		denied = append(denied, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET, unix.SYS_MQ_OPEN, unix.SYS_MSGGET)
	}
	for _, nr := range denied {
		p.jump(unix.BPF_JEQ, nr, 0, 1)
		p.ret(eperm)
	}
	// clone3 hides its flags in memory; ENOSYS makes the C library use clone.
	p.jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1)
	p.ret(enosys)
	var clone program
	clone.load(offArg0)
	clone.jump(unix.BPF_JSET, namespaceFlags, 0, 1)
	clone.ret(eperm)
	p.on(unix.SYS_CLONE, clone)
	for _, nr := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		p.on(nr, socketFilter(opt.allowedFamilies(), enoproto))
	}
	// Both push characters into a terminal's input.
	var ioctl program
	ioctl.load(offArg1)
	for _, request := range []uint32{unix.TIOCSTI, unix.TIOCLINUX} {
		ioctl.jump(unix.BPF_JEQ, request, 0, 1)
		ioctl.ret(eperm)
	}
	p.on(unix.SYS_IOCTL, ioctl)
	p.ret(retAllow)
	var out bytes.Buffer
	_ = binary.Write(&out, binary.LittleEndian, []unix.SockFilter(p))
	return out.Bytes()
}

func socketFilter(families []uint32, refuse uint32) program {
	var s program
	s.load(offArg0)
	for _, family := range families {
		s.jump(unix.BPF_JEQ, family, 0, 1)
		s.ret(retAllow)
	}
	s.jump(unix.BPF_JEQ, unix.AF_NETLINK, 1, 0)
	s.ret(refuse)
	s.load(offArg2)
	s.jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 1, 0)
	s.ret(refuse)
	return s
}
