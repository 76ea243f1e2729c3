package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// mountTmpfs mounts a tmpfs bounded in bytes and inodes, which bubblewrap's own
// --tmpfs cannot do.
func mountTmpfs(dir string, space Space, uid int, mode uint32) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	data := fmt.Sprintf("size=%d,nr_inodes=%d,mode=%o,uid=%d,gid=%d", space.Bytes, space.Inodes, mode, uid, uid)
	if err := unix.Mount("rebench", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, data); err != nil {
		return fmt.Errorf("mount tmpfs on %s (%s): %w", dir, data, err)
	}
	return nil
}

// unmountBelow unmounts everything mounted at or below dir, last first.
func unmountBelow(dir string) error {
	raw, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var at []string
	for line := range strings.Lines(string(raw)) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		if p := unescapeMount(f[4]); p == dir || strings.HasPrefix(p, dir+"/") {
			at = append(at, p)
		}
	}
	var errs []error
	for i := len(at) - 1; i >= 0; i-- {
		if err := unix.Unmount(at[i], unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && err != unix.EINVAL {
			errs = append(errs, fmt.Errorf("unmount %s: %w", at[i], err))
		}
	}
	return errors.Join(errs...)
}

// removeTree removes a directory of this runner with all that is mounted there.
func removeTree(dir string) error {
	if os.Geteuid() == 0 {
		// Never delete through a mount that did not go away.
		if err := unmountBelow(dir); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// workspace is a Workspace: a tmpfs of its own as root, else a directory that
// the watchdog looks after.
type workspace struct {
	tree
	b     *Bubblewrap
	meta  workspaceMeta
	home  string // RunDir/workspaces/NAME: lock, meta.json, dir
	user  *user
	alive *os.File
}

// workspaceMeta is what another runner needs to take a workspace over.
type workspaceMeta struct {
	Role  Role  `json:"role"`
	UID   int   `json:"uid"` // -1: not separate
	Space Space `json:"space"`
}

func (b *Bubblewrap) workspaceHome(name string) string {
	return filepath.Join(b.cfg.RunDir, "workspaces", name)
}

// NewWorkspace makes a workspace; CodeConflict when the name is taken.
func (b *Bubblewrap) NewWorkspace(_ context.Context, spec WorkspaceSpec) (Workspace, error) {
	if err := checkName(spec.Name); err != nil {
		return nil, err
	}
	if _, ok := roleOffset[spec.Role]; !ok || spec.Bytes <= 0 || spec.Inodes <= 0 {
		return nil, rebench.Errorf(rebench.CodeInvalid, "workspace %s: expected a role, and bytes and inodes above 0, found %+v", spec.Name, spec)
	}
	home := b.workspaceHome(spec.Name)
	if err := os.Mkdir(home, 0o711); err != nil {
		if errors.Is(err, os.ErrExist) {
			return nil, rebench.Errorf(rebench.CodeConflict, "workspace %s exists", spec.Name)
		}
		return nil, rebench.Errorf(rebench.CodeInternal, "workspace %s: %w", spec.Name, err)
	}
	w := &workspace{b: b, home: home, tree: tree{name: spec.Name, path: filepath.Join(home, "dir")}}
	if err := w.make(spec); err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "workspace %s: %w", spec.Name, errors.Join(err, w.Close()))
	}
	b.mu.Lock()
	b.workspaces[spec.Name] = w
	b.mu.Unlock()
	return w, nil
}

func (w *workspace) make(spec WorkspaceSpec) error {
	var err error
	if w.alive, err = lockFile(filepath.Join(w.home, "lock")); err != nil {
		return err
	}
	if w.user, err = w.b.users.lease(spec.Role); err != nil {
		return err
	}
	w.uid = w.user.uid
	w.meta = workspaceMeta{Role: spec.Role, UID: w.uid, Space: spec.Space}
	if err := w.record(); err != nil {
		return err
	}
	if w.uid < 0 {
		return os.Mkdir(w.path, 0o755)
	}
	return mountTmpfs(w.path, spec.Space, w.uid, 0o755)
}

// OpenWorkspace takes over the workspace of a runner that has died.
func (b *Bubblewrap) OpenWorkspace(_ context.Context, name string) (Workspace, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	home := b.workspaceHome(name)
	raw, err := os.ReadFile(filepath.Join(home, "meta.json"))
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeNotFound, "no workspace %s", name)
	}
	w := &workspace{b: b, home: home, tree: tree{name: name, path: filepath.Join(home, "dir")}}
	if err := json.Unmarshal(raw, &w.meta); err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "workspace %s: %w", name, err)
	}
	if w.alive, err = lockFile(filepath.Join(home, "lock")); err != nil {
		return nil, rebench.Errorf(rebench.CodeConflict, "workspace %s belongs to a runner that lives: %w", name, err)
	}
	if err := w.adopt(); err != nil {
		w.alive.Close()
		return nil, rebench.Errorf(rebench.CodeInternal, "workspace %s: %w", name, err)
	}
	b.mu.Lock()
	b.workspaces[name] = w
	b.mu.Unlock()
	return w, nil
}

// adopt gives the workspace, with all in it, to a user of this runner: its own
// may serve another by now.
func (w *workspace) adopt() error {
	var err error
	if w.user, err = w.b.users.lease(w.meta.Role); err != nil {
		return err
	}
	if w.uid = w.user.uid; w.uid >= 0 {
		err = chownTree(w.path, w.uid)
	}
	if err == nil {
		w.meta.UID = w.uid
		err = w.record()
	}
	if err != nil {
		err = errors.Join(err, w.user.release())
	}
	return err
}

func (w *workspace) record() error {
	raw, err := json.Marshal(w.meta)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.home, "meta.json"), raw, 0o600)
}

// Close removes the workspace. Sandboxes that use it must have ended.
func (w *workspace) Close() error {
	w.b.mu.Lock()
	delete(w.b.workspaces, w.name)
	w.b.mu.Unlock()
	var errs []error
	if w.user != nil {
		errs = append(errs, w.user.release())
		w.user = nil
	}
	errs = append(errs, removeTree(w.home))
	if w.alive != nil {
		w.alive.Close()
	}
	return errors.Join(errs...)
}
