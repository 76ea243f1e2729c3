package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// plant makes one odd thing in a solution.
type plant struct {
	name string
	do   func(dir string) error
	path string // what the refusal names
	why  string // and what it says
	root bool   // needs root to make
}

func write(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

func plants() []plant {
	return []plant{
		{name: "symlink out", do: func(d string) error { return os.Symlink("/etc/passwd", d+"/l") }, path: "l", why: "symbolic link"},
		{name: "symlink in", do: func(d string) error { return os.Symlink("a", d+"/l") }, path: "l", why: "symbolic link"},
		{name: "symlink to directory", do: func(d string) error { return os.Symlink("/etc", d+"/sub/l") }, path: "sub/l", why: "symbolic link"},
		{name: "magic link", do: func(d string) error { return os.Symlink("/proc/self/root", d+"/l") }, path: "l", why: "symbolic link"},
		{name: "hard link", do: func(d string) error { return os.Link(d+"/a", d+"/b") }, path: "a", why: "2 hard links"},
		{name: "hard link elsewhere", do: func(d string) error { return os.Link(d+"/a", d+"/../elsewhere") }, path: "a", why: "2 hard links"},
		{name: "fifo", do: func(d string) error { return unix.Mkfifo(d+"/f", 0o644) }, path: "f", why: "a FIFO"},
		{name: "socket", do: func(d string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: d + "/s"})
			if err == nil {
				l.SetUnlinkOnClose(false)
				err = l.Close()
			}
			return err
		}, path: "s", why: "a socket"},
		{name: "character device", root: true, do: func(d string) error { return unix.Mknod(d+"/n", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))) }, path: "n", why: "character device"},
		{name: "block device", root: true, do: func(d string) error { return unix.Mknod(d+"/n", unix.S_IFBLK|0o666, int(unix.Mkdev(7, 0))) }, path: "n", why: "block device"},
		{name: "mount", root: true, do: func(d string) error { return unix.Mount("x", d+"/sub", "tmpfs", 0, "size=4096") }, path: "sub", why: "another file system"},
		{name: "newline", do: func(d string) error { return write(d+"/a\nb", 1) }, path: `"a\nb"`, why: "U+000A"},
		{name: "escape", do: func(d string) error { return write(d+"/\x1b[2J", 1) }, path: `"\x1b[2J"`, why: "U+001B"},
		{name: "right to left", do: func(d string) error { return write(d+"/a\u202eb", 1) }, path: `"a\u202eb"`, why: "U+202E"},
		{name: "not UTF-8", do: func(d string) error { return write(d+"/a\xff", 1) }, path: `"a\xff"`, why: "not UTF-8"},
		{name: "backslash", do: func(d string) error { return write(d+`/a\b`, 1) }, path: `"a\\b"`, why: "U+005C"},
		{name: "long name", do: func(d string) error { return write(d+"/"+strings.Repeat("n", 65), 1) }, path: "nnn", why: "name of 65 bytes"},
		{name: "odd directory", do: func(d string) error { return os.Mkdir(d+"/a\tb", 0o755) }, path: `"a\tb"`, why: "U+0009"},
		{name: "too large", do: func(d string) error { return write(d+"/big", 5001) }, path: "big", why: "5001 bytes; a file may have 5000"},
		{name: "sparse", do: func(d string) error { return write(d+"/big", 1<<40) }, path: "big", why: "a file may have 5000"},
		{name: "too much", do: func(d string) error { return errors.Join(write(d+"/b", 5000), write(d+"/c", 5000)) }, path: "c", why: "pass 10000 bytes in sum"},
		{name: "too many", do: func(d string) error {
			for i := range 30 {
				if err := write(fmt.Sprintf("%s/sub/%d", d, i), 1); err != nil {
					return err
				}
			}
			return nil
		}, path: "sub", why: "more than 20 files"},
		{name: "too deep", do: func(d string) error { return os.MkdirAll(d+"/1/2/3/4/5", 0o755) }, path: "1/2/3/4", why: "more than 3 deep"},
	}
}

var tight = SnapshotLimits{Bytes: 10_000, FileBytes: 5_000, Files: 20, Depth: 3, NameBytes: 64}

// planted is a small good solution with one thing planted.
func planted(t *testing.T, p plant) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "solution")
	for _, err := range []error{os.MkdirAll(dir+"/sub", 0o755), os.WriteFile(dir+"/a", []byte("alpha"), 0o644), os.WriteFile(dir+"/sub/x", []byte("run"), 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if p.do != nil {
		if err := p.do(dir); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(dir+"/sub", unix.MNT_DETACH) })
	}
	return dir
}

// TestSnapshotRefuses checks that everything but plain files is refused, with
// its place and reason, and that no half copy stays.
func TestSnapshotRefuses(t *testing.T) {
	for _, p := range plants() {
		t.Run(p.name, func(t *testing.T) {
			if p.root && os.Geteuid() != 0 {
				t.Logf("an ordinary user cannot make this, nor can a solver")
				return
			}
			dir := planted(t, p)
			dst := filepath.Join(t.TempDir(), "copy")
			_, err := TakeSnapshot(t.Context(), dir, ".", dst, tight)
			var refused *RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("found %v, expected a refusal", err)
			}
			if !strings.HasPrefix(refused.Path, p.path) || !strings.Contains(refused.Reason, p.why) {
				t.Errorf("found %q: %q, expected %q: %q", refused.Path, refused.Reason, p.path, p.why)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b\u202e") {
				t.Errorf("the message passes on odd characters: %q", err)
			}
			if _, err := os.Stat(dst); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a half copy stays: %v", err)
			}
		})
	}
}

// TestSnapshotCopies checks contents, modes and the hash, worked out by hand.
func TestSnapshotCopies(t *testing.T) {
	dir := planted(t, plant{do: func(d string) error {
		return errors.Join(os.Chmod(d+"/sub/x", 0o4711), os.Mkdir(d+"/empty", 0o700), os.WriteFile(d+"/ümläut 1", nil, 0o600))
	}})
	dst := filepath.Join(t.TempDir(), "copy")
	got, err := TakeSnapshot(t.Context(), dir, ".", dst, tight)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	want := sum(sum("alpha") + " - a\n" + sum("run") + " x sub/x\n" + sum("") + " - ümläut 1\n")
	if got.SHA256 != want || got.Files != 3 || got.Bytes != 8 || got.Dir != dst {
		t.Errorf("found %+v, expected hash %s of 3 files and 8 bytes", got, want)
	}
	if again, err := TreeHash(dst); err != nil || again != want {
		t.Errorf("TreeHash of the copy: found %s, %v", again, err)
	}
	for path, mode := range map[string]os.FileMode{"a": 0o644, "sub/x": 0o755, "ümläut 1": 0o644, "empty": os.ModeDir | 0o755, "sub": os.ModeDir | 0o755} {
		if st, err := os.Stat(dst + "/" + path); err != nil || st.Mode() != mode {
			t.Errorf("%s: found %v, %v, expected %v", path, st.Mode(), err, mode)
		}
	}
	if sub, err := TakeSnapshot(t.Context(), dir, "sub", dst+"2", tight); err != nil || sub.Files != 1 {
		t.Errorf("subdirectory: found %+v, %v", sub, err)
	}
	for _, bad := range []string{"..", "sub/../..", "/etc", "a", "none"} {
		if _, err := TakeSnapshot(t.Context(), dir, bad, dst+"3", tight); err == nil {
			t.Errorf("subdirectory %q was taken", bad)
		}
	}
}

// TestSnapshotOfSwappedFiles takes snapshots while files are swapped for links
// to a secret and rewritten: no copy may hold the secret. (Whether a solution
// is of one piece is the freezing's business, see below.)
func TestSnapshotOfSwappedFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("#", 4000)), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := planted(t, plant{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			tmp := dir + "/../tmp"
			switch i % 4 {
			case 0, 2:
				_ = os.WriteFile(tmp, []byte(strings.Repeat(string(rune('A'+i%20)), 4000)), 0o644)
			case 1:
				_ = os.Symlink(secret, tmp)
			case 3: // in place
				if f, err := os.OpenFile(dir+"/a", os.O_WRONLY|unix.O_NOFOLLOW, 0); err == nil {
					for k := 0; k < 4000; k += 500 {
						_, _ = f.WriteAt([]byte(strings.Repeat("z", 500)), int64(k))
					}
					f.Close()
				}
				continue
			}
			_ = os.Rename(tmp, dir+"/a")
			_ = os.Rename(dir+"/sub", dir+"/../moved")
			_ = os.Symlink(filepath.Dir(secret), dir+"/sub")
			_ = os.Remove(dir + "/sub")
			_ = os.Rename(dir+"/../moved", dir+"/sub")
		}
	}()
	taken, refused := 0, 0
	for i := range 400 {
		dst := filepath.Join(t.TempDir(), "c")
		_, err := TakeSnapshot(t.Context(), dir, ".", dst, tight)
		if err != nil {
			refused++
			continue
		}
		taken++
		got, err := os.ReadFile(dst + "/a")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(got), "#") {
			t.Errorf("snapshot %d holds the secret", i)
		}
		if _, err := os.Stat(dst + "/sub/secret"); err == nil {
			t.Errorf("snapshot %d followed a directory link", i)
		}
	}
	cancel()
	<-done
	t.Logf("%d snapshots taken, %d refused", taken, refused)
	if taken == 0 || refused == 0 {
		t.Errorf("%d taken and %d refused: the race was not run", taken, refused)
	}
}

// TestSnapshotOfFrozenAgent lets an agent rewrite two files that must agree,
// freezes it, and checks that no snapshot is torn.
func TestSnapshotOfFrozenAgent(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		w := newWorkspace(t, b, Space{Bytes: 1 << 20, Inodes: 100})
		var out lines
		p := start(t, b, Spec{Dir: "/solution", Limits: Limits{CPUs: 2}, Stdout: &out, Mounts: []Mount{{Target: "/solution", Workspace: w, Writable: true}}, Argv: python(`
i = 0
while True:
    i += 1
    for name in ("a", "b"):
        with open(name, "w") as f: f.write(str(i) * 1000)
    if i == 5: print("run", flush=True)
`)})
		out.until(t, p, 1)
		torn := 0
		for i := range 20 {
			if err := p.Freeze(t.Context()); err != nil {
				t.Fatal(err)
			}
			dst := filepath.Join(t.TempDir(), "s")
			first, err := w.Snapshot(t.Context(), ".", dst, SnapshotLimits{})
			if err != nil {
				t.Fatalf("snapshot %d: %v", i, err)
			}
			second, err := w.Snapshot(t.Context(), ".", dst+"2", SnapshotLimits{})
			if err != nil || first.SHA256 != second.SHA256 {
				torn++
			}
			if err := p.Thaw(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		if torn > 0 {
			t.Errorf("%d of 20 frozen solutions changed between two snapshots", torn)
		}
	})
}

// TestSandboxPlants lets a submission plant what it can in its workspace, and
// checks that collecting and filling are not fooled.
func TestSandboxPlants(t *testing.T) {
	eachTier(t, func(t *testing.T, b *Bubblewrap) {
		w := newWorkspace(t, b, Space{Bytes: 1 << 20, Inodes: 100})
		run(t, b, Spec{Dir: "/solution", Mounts: []Mount{{Target: "/solution", Workspace: w, Writable: true}}, Argv: sh(
			"ln -s /etc/shadow link; ln -s /proc/1/root/etc mag; mkfifo fifo; echo x > one; ln one two; echo fine > fine; mkdir d; ln -s .. d/up; head -c 5000 /dev/zero > big; mkdir -m 0 closed")}).wantExit(t, 0)
		for path, why := range map[string]string{
			"link": "not a regular file", "mag/passwd": "symbolic link", "fifo": "not a regular file", "one": "2 hard links", "d": "not a regular file",
			"d/up/fine": "symbolic link", "../lock": "out of the solution", "none": "not found", "big": "at most 4000", "/etc/passwd": "out of the solution",
		} {
			_, err := w.Collect(t.Context(), path, 4000)
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, why) {
				t.Errorf("collect %s: found %v, expected %q", path, err, why)
			}
		}
		f, err := w.Collect(t.Context(), "fine", 4000)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got, _ := io.ReadAll(f); string(got) != "fine\n" {
			t.Errorf("found %q", got)
		}
		if _, err := f.WriteAt([]byte("x"), 0); err == nil {
			t.Error("a collected file can be written")
		}
		// A planted link where a file is to be written must not be followed.
		src := t.TempDir()
		if err := os.WriteFile(src+"/link", []byte("overwritten"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := w.Fill(t.Context(), src); err == nil {
			t.Error("filled through a planted link")
		}
	})
}

// TestStage checks that a staged tree is found again, mended when damaged, and
// does not depend on compiled files.
func TestStage(t *testing.T) {
	b := newExecutor(t, "")
	src := t.TempDir()
	if err := os.WriteFile(src+"/a.py", []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	first, err := b.Stage(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(src+"/__pycache__", 0o755), os.WriteFile(src+"/__pycache__/a.pyc", []byte("2"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(first.Path+"/a.py", []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	second, err := b.Stage(t.Context(), src)
	if err != nil || second != first {
		t.Fatalf("found %+v, %v; expected %+v", second, err, first)
	}
	if got, _ := os.ReadFile(second.Path + "/a.py"); string(got) != "1" {
		t.Errorf("staged file holds %q", got)
	}
	if sum, err := TreeHash(second.Path); err != nil || sum != second.SHA256 {
		t.Errorf("staged tree has hash %s, %v", sum, err)
	}
}
