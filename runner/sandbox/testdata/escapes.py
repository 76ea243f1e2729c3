"""Tries to leave the sandbox. Prints {probe: outcome} as JSON; an outcome is an
errno name, or "DONE" with details when the attempt worked."""

import ctypes, errno, glob, json, mmap, os, signal, socket, stat, struct, sys

asked = json.load(sys.stdin)
libc = ctypes.CDLL(None, use_errno=True)
out = {}


def probe(name, attempt):
    try:
        got = attempt()
        out[name] = "DONE %r" % (got,)
    except OSError as e:
        out[name] = errno.errorcode.get(e.errno, str(e.errno))


def call(*args):
    ctypes.set_errno(0)
    r = libc.syscall(*args)
    if r < 0:
        raise OSError(ctypes.get_errno(), "")
    return r


def read(path):
    with open(path, "rb") as f:
        return f.read(64)


def write(path):
    with open(path, "wb") as f:
        f.write(b"1")


def connect(family, address, kind=socket.SOCK_STREAM):
    s = socket.socket(family, kind)
    s.settimeout(2)
    s.connect(address)


# Files of the host.
for path in asked["hidden"]:
    probe("read " + path, lambda: read(path))
    probe("through init " + path, lambda: read("/proc/1/root" + path))

# The network.
probe("abstract socket", lambda: connect(socket.AF_UNIX, "\0" + asked["abstract"]))
probe("host tcp", lambda: connect(socket.AF_INET, ("127.0.0.1", asked["tcp"])))
probe("internet", lambda: connect(socket.AF_INET, ("192.0.2.1", 80)))
probe("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
probe("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
probe("crypto socket", lambda: socket.socket(38, socket.SOCK_SEQPACKET))
probe("uevents", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15))
probe("raw socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
out["interfaces"] = sorted(n for _, n in socket.if_nameindex())

# Other processes.
mine = [int(p) for p in os.listdir("/proc") if p.isdigit()]
out["processes"] = len(mine)
texts = {}
for p in mine:
    for what in ("cmdline", "environ"):
        try:
            with open("/proc/%d/%s" % (p, what), "rb") as f:
                texts["%d %s" % (p, what)] = f.read().decode(errors="replace")
        except OSError:
            pass
out["leaks"] = [k for k, v in texts.items() for secret in asked["secrets"] if secret in v]
probe("signal host process", lambda: os.kill(asked["pid"], signal.SIGKILL))
PTRACE_ATTACH, pid = 16, asked["pid"]
SYS = asked["syscalls"]
for target in (1, pid):
    probe("ptrace %s" % ("init" if target == 1 else "host"), lambda: call(SYS["ptrace"], PTRACE_ATTACH, target, 0, 0))
buf = ctypes.create_string_buffer(8)
iov = (ctypes.c_void_p * 2)(ctypes.addressof(buf), 8)
probe("process_vm_readv", lambda: call(SYS["process_vm_readv"], 1, iov, 1, iov, 1, 0))
# The first process may be written to, being the same user's: it must be confined alike.
first = dict(line.split(":", 1) for line in open("/proc/1/status"))
out["first process"] = [first[k].strip() for k in ("CapPrm", "CapBnd", "NoNewPrivs", "Seccomp")]

# Writing where nothing may be written.
for path in ("/usr/bin/x", "/etc/passwd", "/x", "/dev/x", "/bin/x", "/sys/devices/system/cpu/x", "/solution/x"):
    probe("write " + path, lambda: write(path))
for path in ("/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern"):
    probe("set " + path, lambda: write(path))

# Devices.
probe("mknod", lambda: os.mknod("/tmp/null", stat.S_IFCHR | 0o666, os.makedev(1, 3)))
for dev in ("/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/kvm", "/dev/fuse", "/dev/vsock", "/dev/nvidiactl"):
    probe("open " + dev, lambda: os.open(dev, os.O_RDONLY))

# Becoming somebody else, or somewhere else.
probe("setuid", lambda: os.setuid(0))
probe("setgroups", lambda: os.setgroups([0]))
probe("chroot", lambda: os.chroot("/tmp"))
NEWUSER, NEWNS, NEWNET = 0x10000000, 0x20000, 0x40000000
for name, flags in (("user", NEWUSER), ("mount", NEWNS), ("net", NEWNET)):
    probe("unshare " + name, lambda: call(SYS["unshare"], flags))
    probe("clone " + name, lambda: call(SYS["clone"], flags | signal.SIGCHLD, 0, 0, 0, 0))
probe("clone3", lambda: call(SYS["clone3"], 0, 0))
probe("mount", lambda: call(SYS["mount"], b"none", b"/tmp", b"tmpfs", 0, 0))
probe("umount", lambda: call(SYS["umount2"], b"/tmp", 2))
probe("pivot_root", lambda: call(SYS["pivot_root"], b"/tmp", b"/tmp"))
for name in asked["denied"]:
    probe(name, lambda: call(SYS[name], 0, 0, 0, 0, 0))
TIOCSTI = 0x5412
probe("TIOCSTI", lambda: call(SYS["ioctl"], 0, TIOCSTI, b"x"))


def other_abi():
    """getpid through the 32-bit entry, whose system calls have other numbers."""
    child = os.fork()
    if child == 0:
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20; int 0x80; ret
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if asked["machine"] == "amd64":
    out["other abi"] = other_abi()

# What is inherited.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
out["capabilities"] = [status[k].strip() for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
out["no_new_privs"], out["seccomp"] = status["NoNewPrivs"].strip(), status["Seccomp"].strip()
out["descriptors"] = sorted(int(fd) for fd in os.listdir("/proc/self/fd"))[:-1]
out["environment"] = sorted(os.environ)
out["ids"] = [os.getuid(), os.getgid(), sorted(os.getgroups())]
out["setuid files"] = [p for top in ("/usr/bin", "/usr/lib", "/usr/sbin") for d, _, fs in os.walk(top) for f in fs
                       if os.lstat(p := os.path.join(d, f)).st_mode & 0o6000]
out["writable"] = [p for p in ("/", "/usr", "/etc", "/dev", "/proc", "/tmp", "/dev/shm") if os.access(p, os.W_OK)]
print(json.dumps(out))
