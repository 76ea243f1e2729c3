package attempt

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/sandbox"
)

// Recovered is what Recover found and did.
type Recovered struct {
	Closed  []*Dir   // attempts whose logs it closed with the reason error
	Dropped []string // ids of attempts that a runner died preparing; nothing of them was logged
	Killed  int      // processes of theirs that were still alive
}

// Recover closes the attempts of this state directory whose runner no longer
// lives. It first ends whatever is left of their sandboxes. An attempt that it
// cannot close is reported in the error and left for the next time; the others
// are closed all the same.
func (s *State) Recover(ctx context.Context, exec sandbox.Executor, logger *slog.Logger) (Recovered, error) {
	var out Recovered
	left, err := exec.Recover(ctx, nil)
	if err != nil {
		return out, err
	}
	out.Killed = left.Killed
	entries, err := os.ReadDir(filepath.Join(s.Dir, "attempts"))
	if err != nil {
		return out, rebench.Errorf(rebench.CodeInternal, "attempts: %w", err)
	}
	var errs []error
	for _, e := range entries {
		d := &Dir{Path: filepath.Join(s.Dir, "attempts", e.Name())}
		if err := d.recover(&out, logger); err != nil {
			errs = append(errs, rebench.Errorf(rebench.CodeInternal, "recover attempt %s: %w", e.Name(), err))
		}
		d.Close()
	}
	return out, errors.Join(errs...)
}

func (d *Dir) recover(out *Recovered, logger *slog.Logger) error {
	if strings.HasPrefix(filepath.Base(d.Path), newPrefix) {
		// Its runner died while it made the directory, or is just making it.
		if st, err := os.Stat(d.Path); err == nil && time.Since(st.ModTime()) > time.Hour {
			return os.RemoveAll(d.Path)
		}
		return nil
	}
	if _, err := os.Stat(filepath.Join(d.Path, lockName)); err != nil {
		return nil // not made by a runner
	}
	if err := d.acquire(); err != nil {
		if errors.Is(err, errLocked) {
			return nil
		}
		return err
	}
	return d.recoverLocked(out, logger)
}

func (d *Dir) recoverLocked(out *Recovered, logger *slog.Logger) error {
	b, err := os.ReadFile(filepath.Join(d.Path, metaName))
	if err == nil {
		err = json.Unmarshal(b, &d.Meta)
	}
	st, serr := os.Stat(d.LogPath())
	if serr != nil || st.Size() == 0 {
		out.Dropped = append(out.Dropped, filepath.Base(d.Path))
		return os.RemoveAll(d.Path)
	}
	if err != nil {
		return err
	}
	for _, dir := range []string{PreparedName, "begin"} {
		if err := os.RemoveAll(filepath.Join(d.Path, dir)); err != nil {
			return err
		}
	}
	os.Remove(filepath.Join(d.Path, socketName))
	os.Remove(filepath.Join(d.Path, controlName))
	closed, err := d.closeLog(logger)
	if err != nil {
		// A full disk: free what was set aside and try once more.
		if os.Remove(filepath.Join(d.Path, reserveName)) == nil {
			closed, err = d.closeLog(logger)
		}
	}
	if err != nil {
		return err
	}
	os.Remove(filepath.Join(d.Path, reserveName))
	if closed {
		out.Closed = append(out.Closed, d)
	}
	return nil
}

// closeLog ends an open log with the reason error, and says whether it was open.
func (d *Dir) closeLog(logger *slog.Logger) (bool, error) {
	log, rec, err := attemptlog.OpenAppend(d.LogPath())
	if err != nil {
		return false, err
	}
	defer log.Close()
	sum := log.Summary()
	if rec.Lines == 0 { // the header itself was torn: nothing was acknowledged
		return false, os.RemoveAll(d.Path)
	}
	if sum.Ended {
		return false, nil
	}
	now := time.Now()
	t, last := d.lastSign(sum)
	if !sum.Paused {
		// What lies between is nobody's time.
		if _, err := log.Append(&attemptlog.Pause{T: ptr(t), At: wallMS(last), Reason: pauseRestart}); err != nil {
			return false, err
		}
	}
	if _, err := log.Append(&attemptlog.Resume{T: ptr(t), At: wallMS(now)}); err != nil {
		return false, err
	}
	var x extra
	x.add("detail", "the runner stopped without closing the attempt; recovered later, the entry that counts was not scored again")
	x.add("recovered", true)
	if rec.TruncatedBytes > 0 {
		x.add("unacknowledged_bytes_cut", rec.TruncatedBytes)
	}
	if _, err := log.Append(&attemptlog.End{T: ptr(t), At: wallMS(now), Reason: attemptlog.EndError, Extra: x.members}); err != nil {
		return false, err
	}
	logger.Warn("an attempt of a runner that died was closed", "attempt", d.Meta.ID, "entries", sum.Scores, "t", t)
	return true, nil
}

// lastSign is the charged time and the wall time up to which the attempt is
// known to have run: its last heartbeat or its last line, whichever is later.
func (d *Dir) lastSign(sum attemptlog.Summary) (t float64, at time.Time) {
	if st, err := os.Stat(d.LogPath()); err == nil {
		at = st.ModTime()
	}
	t = d.lastLine()
	if sum.LastT != nil {
		t = max(t, *sum.LastT)
	}
	b, err := os.ReadFile(filepath.Join(d.Path, aliveName))
	var beat heartbeat
	if err == nil && json.Unmarshal(b, &beat) == nil && beat.ElapsedS >= t {
		return seconds(time.Duration(beat.ElapsedS * float64(time.Second))), beat.At
	}
	return t, at
}

// lastLine is the largest t of any line: a pause may be later than every entry.
func (d *Dir) lastLine() float64 {
	f, err := os.Open(d.LogPath())
	if err != nil {
		return 0
	}
	defer f.Close()
	r := attemptlog.NewReader(f, attemptlog.Options{})
	var t float64
	for r.Next() {
		var at *float64
		switch e := r.Line().Event.(type) {
		case *attemptlog.Score:
			at = e.T
		case *attemptlog.Pause:
			at = e.T
		case *attemptlog.Resume:
			at = e.T
		case *attemptlog.Usage:
			at = e.T
		}
		if at != nil {
			t = max(t, *at)
		}
	}
	return t
}
