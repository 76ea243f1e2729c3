package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// resolveStrict keeps every lookup below its directory, on its file system, and
// off links of any kind.
const resolveStrict = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

func openBeneath(dirfd int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat2(dirfd, name, &unix.OpenHow{
			Flags: uint64(flags) | unix.O_CLOEXEC, Mode: uint64(mode), Resolve: resolveStrict,
		})
		// EAGAIN: a rename elsewhere raced with RESOLVE_BENEATH.
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		return fd, err
	}
}

// walker copies (dst >= 0) or only hashes one tree.
type walker struct {
	limits   SnapshotLimits
	uid, gid int // owner of the copies; -1: leave
	skip     string
	sum      hash.Hash
	files    int // directories included
	bytes    int64
	regular  int
}

// TreeHash returns the hex SHA-256 of the regular files below dir: of the lines
// "HEX-SHA256 MODE PATH\n" in depth-first order of sorted names, MODE being x
// for an executable file and - otherwise. It refuses what Snapshot refuses.
func TreeHash(dir string) (string, error) {
	w := &walker{limits: trustedLimits, uid: -1, gid: -1, sum: sha256.New()}
	if err := w.run(context.Background(), dir, ".", -1); err != nil {
		return "", err
	}
	return hex.EncodeToString(w.sum.Sum(nil)), nil
}

// SourceHash is TreeHash with directories named __pycache__ left out.
func SourceHash(dir string) (string, error) {
	w := sourceWalker()
	if err := w.run(context.Background(), dir, ".", -1); err != nil {
		return "", err
	}
	return hex.EncodeToString(w.sum.Sum(nil)), nil
}

func sourceWalker() *walker {
	return &walker{limits: trustedLimits, uid: -1, gid: -1, sum: sha256.New(), skip: "__pycache__"}
}

// trustedLimits apply to trees that we ship ourselves.
var trustedLimits = SnapshotLimits{Bytes: 64 << 30, FileBytes: 64 << 30, Files: 1_000_000, Depth: 64, NameBytes: 255}

// run walks sub below src, both named by the caller, and copies to the directory dst.
func (w *walker) run(ctx context.Context, src, sub string, dst int) error {
	top, err := unix.Open(src, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return rebench.Errorf(rebench.CodeInvalid, "open directory %s: %w", src, err)
	}
	defer unix.Close(top)
	dir, err := openBeneath(top, sub, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return &RefusedError{strconv.Quote(sub), whyNotOpened(err)}
	}
	return w.dir(ctx, dir, dst, "", 0)
}

// dir walks the open directory fd, which it closes.
func (w *walker) dir(ctx context.Context, fd, dst int, rel string, depth int) error {
	f := os.NewFile(uintptr(fd), rel)
	defer f.Close()
	if depth > w.limits.Depth {
		return &RefusedError{shown(rel), fmt.Sprintf("directories nested more than %d deep", w.limits.Depth)}
	}
	names, err := w.names(f, rel)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.skip != "" && name == w.skip {
			continue
		}
		path := name
		if rel != "" {
			path = rel + "/" + name
		}
		if err := w.entry(ctx, fd, dst, name, path, depth); err != nil {
			return err
		}
	}
	return nil
}

// names reads the sorted names of a directory, never more than are allowed.
func (w *walker) names(f *os.File, rel string) ([]string, error) {
	left := w.limits.Files - w.files
	names, err := f.Readdirnames(left + 1)
	if err != nil && err != io.EOF {
		return nil, &RefusedError{shown(rel), "cannot be listed: " + whyNotOpened(err)}
	}
	if len(names) > left {
		return nil, &RefusedError{shown(rel), fmt.Sprintf("more than %d files and directories", w.limits.Files)}
	}
	sort.Strings(names)
	return names, nil
}

// entry takes one directory entry, whatever it is.
func (w *walker) entry(ctx context.Context, dirfd, dst int, name, path string, depth int) error {
	if reason := oddName(name, w.limits.NameBytes); reason != "" {
		return &RefusedError{shown(path), reason}
	}
	w.files++
	// A path descriptor first: opening a device or FIFO for reading could act on it.
	fd, err := openBeneath(dirfd, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return &RefusedError{shown(path), whyNotOpened(err)}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &RefusedError{shown(path), whyNotOpened(err)}
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return w.subdir(ctx, fd, dst, name, path, depth)
	case unix.S_IFREG:
		return w.file(ctx, fd, dst, &st, name, path)
	}
	return &RefusedError{shown(path), "is " + kindName(st.Mode) + "; only regular files and directories are taken"}
}

func (w *walker) subdir(ctx context.Context, fd, dst int, name, path string, depth int) error {
	in, err := openBeneath(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return &RefusedError{shown(path), whyNotOpened(err)}
	}
	out := -1
	if dst >= 0 {
		if out, err = w.mkdir(dst, name); err != nil {
			unix.Close(in)
			return rebench.Errorf(rebench.CodeInternal, "copy %s: %w", path, err)
		}
		defer unix.Close(out)
	}
	return w.dir(ctx, in, out, path, depth+1)
}

func (w *walker) mkdir(dst int, name string) (int, error) {
	if err := unix.Mkdirat(dst, name, 0o755); err != nil {
		return -1, err
	}
	out, err := openBeneath(dst, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.Fchmod(out, 0o755); err == nil {
		err = w.chown(out)
	}
	if err != nil {
		unix.Close(out)
		return -1, err
	}
	return out, nil
}

func (w *walker) chown(fd int) error {
	if w.uid < 0 {
		return nil
	}
	return unix.Fchown(fd, w.uid, w.gid)
}

func (w *walker) file(ctx context.Context, fd, dst int, st *unix.Stat_t, name, path string) error {
	if st.Nlink != 1 {
		return &RefusedError{shown(path), fmt.Sprintf("has %d hard links; one is allowed", st.Nlink)}
	}
	if st.Size > w.limits.FileBytes {
		return &RefusedError{shown(path), fmt.Sprintf("%d bytes; a file may have %d", st.Size, w.limits.FileBytes)}
	}
	if w.bytes+st.Size > w.limits.Bytes {
		return &RefusedError{shown(path), fmt.Sprintf("with it the files pass %d bytes in sum", w.limits.Bytes)}
	}
	// Reopening the descriptor, not the name, cannot reach another file.
	in, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return &RefusedError{shown(path), "cannot be read: " + whyNotOpened(err)}
	}
	defer in.Close()
	executable := st.Mode&0o100 != 0
	out := io.Discard
	if dst >= 0 {
		copied, err := w.create(dst, name, executable)
		if err != nil {
			return rebench.Errorf(rebench.CodeInternal, "copy %s: %w", path, err)
		}
		defer copied.Close()
		out = copied
	}
	sum, err := copyExactly(ctx, out, in, st.Size)
	if err != nil {
		return w.copyFault(path, err)
	}
	var after unix.Stat_t
	if err := unix.Fstat(int(in.Fd()), &after); err != nil || changed(st, &after) {
		return &RefusedError{shown(path), "changed while it was copied"}
	}
	w.bytes += st.Size
	w.regular++
	mode := "-"
	if executable {
		mode = "x"
	}
	fmt.Fprintf(w.sum, "%s %s %s\n", sum, mode, path)
	return nil
}

func (w *walker) create(dst int, name string, executable bool) (*os.File, error) {
	mode := uint32(0o644)
	if executable {
		mode = 0o755
	}
	fd, err := openBeneath(dst, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	if err = unix.Fchmod(fd, mode); err == nil {
		err = w.chown(fd)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// errChanged: the file had not the size that it was announced with.
var errChanged = errors.New("changed size")

func (w *walker) copyFault(path string, err error) error {
	if errors.Is(err, errChanged) {
		return &RefusedError{shown(path), "changed while it was copied"}
	}
	return rebench.Errorf(rebench.CodeInternal, "copy %s: %w", path, err)
}

// copyExactly copies size bytes, finds the end there, and returns their hex SHA-256.
func copyExactly(ctx context.Context, out io.Writer, in io.Reader, size int64) (string, error) {
	h := sha256.New()
	buf := make([]byte, 256<<10)
	var n int64
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		k, err := in.Read(buf)
		if n += int64(k); n > size {
			return "", errChanged
		}
		h.Write(buf[:k])
		if _, werr := out.Write(buf[:k]); werr != nil {
			return "", werr
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
	}
	if n != size {
		return "", errChanged
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func changed(a, b *unix.Stat_t) bool {
	return a.Dev != b.Dev || a.Ino != b.Ino || a.Size != b.Size || a.Mtim != b.Mtim || a.Ctim != b.Ctim || a.Nlink != b.Nlink || a.Mode != b.Mode
}

// oddName says why a name is not taken, or "".
func oddName(name string, maxBytes int) string {
	if len(name) > maxBytes {
		return fmt.Sprintf("name of %d bytes; at most %d", len(name), maxBytes)
	}
	if !utf8.ValidString(name) {
		return "name is not UTF-8"
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || r == '\\' {
			return fmt.Sprintf("name holds the character %U", r)
		}
	}
	return ""
}

// shown makes a path safe to print.
func shown(path string) string {
	const most = 200
	if path == "" {
		return "."
	}
	if len(path) > most {
		path = path[:most] + "..."
	}
	if q := strconv.Quote(path); q != `"`+path+`"` {
		return q
	}
	return path
}

func kindName(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFCHR:
		return "a character device"
	case unix.S_IFBLK:
		return "a block device"
	}
	return fmt.Sprintf("of unknown type %o", mode&unix.S_IFMT)
}

func whyNotOpened(err error) string {
	switch {
	case errors.Is(err, unix.ELOOP):
		return "a symbolic link"
	case errors.Is(err, unix.EXDEV):
		return "leads to another file system or out of the solution"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return "no permission"
	case errors.Is(err, unix.ENOENT):
		return "not found"
	case errors.Is(err, unix.ENOTDIR):
		return "not a directory"
	}
	return strings.TrimSpace(err.Error())
}
