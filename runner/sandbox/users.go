package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"rebench/internal/rebench"
)

// Host users are taken from ranges that no distribution hands out: above those
// of systemd's containers (systemd's UIDS-GIDS document). Where the machine maps
// fewer users (a container), from the end of what is mapped.
const (
	preferredUID = 1_900_000_000
	usersPerRole = 256
)

// userLockDir is one place for the whole machine: two runners that shared a
// user would kill each other's sandboxes.
const userLockDir = "/run/lock/rebench-users"

var roleOffset = map[Role]int{RoleAgent: 0, RoleSubmission: usersPerRole, RoleScorer: 2 * usersPerRole}

// userPool hands out host users. With base 0 (not root) everything runs as
// the runner's own user.
type userPool struct {
	base int
	mu   sync.Mutex
	held map[int]*user
	next map[Role]int
}

// user is a leased host user; gid equals uid. It is shared by the sandboxes
// that write one workspace.
type user struct {
	uid  int // -1: the runner's own
	pool *userPool
	lock *os.File
	refs int
}

func newUserPool() (*userPool, error) {
	if os.Geteuid() != 0 {
		return &userPool{}, nil
	}
	raw, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "host users: %w", err)
	}
	base, err := userBase(string(raw))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(userLockDir, 0o700); err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "host users: %w", err)
	}
	return &userPool{base: base, held: map[int]*user{}, next: map[Role]int{}}, nil
}

// userBase chooses the first user id from the text of /proc/self/uid_map.
func userBase(uidMap string) (int, error) {
	const need = 3 * usersPerRole
	best := 0
	for line := range strings.Lines(uidMap) {
		var inside, outside, count int
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err != nil {
			return 0, rebench.Errorf(rebench.CodeInternal, "host users: unreadable uid_map line %q", line)
		}
		if inside <= preferredUID && preferredUID+need <= inside+count {
			return preferredUID, nil
		}
		// 65534 is nobody: stay below it in a map of 65536.
		if end := inside + count - 2; end-need > 10_000 {
			best = end - need
		}
	}
	if best == 0 {
		return 0, rebench.Errorf(rebench.CodeInternal, "host users: no %d unused user ids are mapped here; run the runner unprivileged instead", need)
	}
	return best, nil
}

// lease returns a user of role that nothing else uses.
func (p *userPool) lease(role Role) (*user, error) {
	if p.base == 0 {
		return &user{uid: -1, pool: p, refs: 1}, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for range usersPerRole {
		uid := p.base + roleOffset[role] + p.next[role]%usersPerRole
		p.next[role]++
		if u := p.take(uid); u != nil {
			return u, nil
		}
	}
	return nil, rebench.Errorf(rebench.CodeInternal, "all %d host users for the role %s are in use", usersPerRole, role)
}

// take locks uid machine-wide and ends whatever still runs under it.
func (p *userPool) take(uid int) *user {
	if p.held[uid] != nil {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(userLockDir, strconv.Itoa(uid)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		f.Close()
		return nil
	}
	u := &user{uid: uid, pool: p, lock: f, refs: 1}
	if err := u.sweep(time.Second); err != nil {
		f.Close()
		return nil
	}
	p.held[uid] = u
	return u
}

func (u *user) share() *user {
	if u.uid >= 0 {
		u.pool.mu.Lock()
		u.refs++
		u.pool.mu.Unlock()
	}
	return u
}

// release gives the user back; the last holder sweeps.
func (u *user) release() error {
	if u.uid < 0 {
		return nil
	}
	u.pool.mu.Lock()
	defer u.pool.mu.Unlock()
	if u.refs--; u.refs > 0 {
		return nil
	}
	err := u.sweep(5 * time.Second)
	delete(u.pool.held, u.uid)
	u.lock.Close()
	return err
}

// sweep kills every process of the user and returns when none is left.
func (u *user) sweep(most time.Duration) error {
	if u.uid < 0 {
		return nil
	}
	deadline := time.Now().Add(most)
	for {
		// ESRCH: the user has no process (getpriority(2)).
		if _, err := unix.Getpriority(unix.PRIO_USER, u.uid); err == unix.ESRCH {
			return nil
		}
		left := processesOf(u.uid)
		if len(left) == 0 {
			return nil // only dead ones, whose parents have not looked yet
		}
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if time.Now().After(deadline) {
			return rebench.Errorf(rebench.CodeInternal, "processes of host user %d do not die", u.uid)
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// processesOf lists the living processes whose real user is uid. A first process
// of a sandbox whose parent has gone stays a zombie until the host's init looks.
func processesOf(uid int) []int { return processesByUser()[uid] }

// processesByUser lists all living processes by real user.
func processesByUser() map[int][]int {
	out := map[int][]int{}
	for _, pid := range allPIDs() {
		var st unix.Stat_t
		if unix.Stat("/proc/"+strconv.Itoa(pid), &st) != nil {
			continue
		}
		// The owner of /proc/PID is the effective user, or root when the
		// process is not dumpable: then its status tells.
		uid := int(st.Uid)
		if uid == 0 {
			uid = realUID(pid)
		}
		if uid > 0 && !allDead(pid) {
			out[uid] = append(out[uid], pid)
		}
	}
	return out
}

// allDead says whether every thread of pid is a zombie or gone.
func allDead(pid int) bool { return everyThread(pid, "ZX") }

func realUID(pid int) int {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "Uid:"); ok {
			uid := -1
			_, _ = fmt.Sscan(rest, &uid)
			return uid
		}
	}
	return -1
}

func allPIDs() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var out []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			out = append(out, pid)
		}
	}
	return out
}
