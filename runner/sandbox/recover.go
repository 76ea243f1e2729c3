package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// Recover cleans up after runners that have died; see Executor. Their sandboxes
// die with them; what remains are groups, mounts and directories, and in rare
// cases a process caught between two steps of being set up.
func (b *Bubblewrap) Recover(_ context.Context, keep func(string) bool) (Recovered, error) {
	var out Recovered
	var errs []error
	runners, err := os.ReadDir(filepath.Join(b.cfg.RunDir, "runners"))
	if err != nil {
		return out, rebench.Errorf(rebench.CodeInternal, "recover: %w", err)
	}
	for _, r := range runners {
		if r.Name() != b.id {
			errs = append(errs, b.recoverRunner(r.Name(), &out))
		}
	}
	errs = append(errs, b.recoverUsers(&out), b.recoverWorkspaces(keep, &out))
	if err := errors.Join(errs...); err != nil {
		return out, rebench.Errorf(rebench.CodeInternal, "recover: %w", err)
	}
	return out, nil
}

func (b *Bubblewrap) recoverRunner(id string, out *Recovered) error {
	dir := filepath.Join(b.cfg.RunDir, "runners", id)
	lock, err := lockFile(filepath.Join(dir, "lock"))
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil // alive
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	killed, groups, err := b.conf.reap(groupPrefix + id + "-")
	out.Killed += killed
	out.Groups += groups
	return errors.Join(err, removeTree(dir))
}

// recoverUsers sweeps the host users that nobody holds.
func (b *Bubblewrap) recoverUsers(out *Recovered) error {
	if b.users.base == 0 {
		return nil
	}
	entries, err := os.ReadDir(userLockDir)
	if err != nil {
		return err
	}
	running := processesByUser()
	var errs []error
	for _, e := range entries {
		uid, err := strconv.Atoi(e.Name())
		if err != nil || len(running[uid]) == 0 {
			continue
		}
		lock, err := lockFile(filepath.Join(userLockDir, e.Name()))
		if err != nil {
			continue // held
		}
		out.Killed += len(running[uid])
		errs = append(errs, (&user{uid: uid}).sweep(5*time.Second))
		lock.Close()
	}
	return errors.Join(errs...)
}

func (b *Bubblewrap) recoverWorkspaces(keep func(string) bool, out *Recovered) error {
	entries, err := os.ReadDir(filepath.Join(b.cfg.RunDir, "workspaces"))
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		home := b.workspaceHome(e.Name())
		lock, err := lockFile(filepath.Join(home, "lock"))
		if err != nil {
			continue // in use
		}
		if keep != nil && keep(e.Name()) {
			out.Workspaces = append(out.Workspaces, e.Name())
		} else {
			errs = append(errs, removeTree(home))
		}
		lock.Close()
	}
	return errors.Join(errs...)
}

var _ Executor = (*Bubblewrap)(nil)
