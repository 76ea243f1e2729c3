package handler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"rebench/internal/rebench"
	"rebench/internal/upload"
	"rebench/web/view"
)

// job is the work on a staged upload: planning it or importing it. It goes on when
// nobody watches.
type job struct {
	imports     bool
	key         string // what a plan depends on
	done, total atomic.Int64
	finished    chan struct{}
	report      *upload.Report // set when finished, unless err is not upload.ErrFaulty
	err         error
}

func (j *job) over() bool {
	select {
	case <-j.finished:
		return true
	default:
		return false
	}
}

// planKey names everything that the plan of a stage depends on.
func planKey(st *stage, revision int64) (string, error) {
	b, err := json.Marshal(struct {
		Options  stage
		Revision int64
	}{*st, revision})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), err
}

// plan returns the job that plans a stage as it is, starting one unless there is one.
// When the stage is being imported or has been, it returns that job.
func (u *uploads) plan(st *stage, revision int64) (*job, error) {
	key, err := planKey(st, revision)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if j := u.jobs[st.ID]; j != nil && (j.key == key || j.imports && (!j.over() || j.err == nil)) {
		return j, nil
	}
	return u.start(st, key, false), nil
}

// confirm starts to import a stage, once.
func (u *uploads) confirm(st *stage) (*job, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if j := u.jobs[st.ID]; j != nil && j.imports && !j.over() {
		return nil, rebench.Errorf(rebench.CodeConflict, "this upload is being imported already")
	}
	return u.start(st, "", true), nil
}

// start begins a job; u.mu is held.
func (u *uploads) start(st *stage, key string, imports bool) *job {
	j := &job{imports: imports, key: key, finished: make(chan struct{})}
	u.jobs[st.ID] = j
	u.wg.Go(func() {
		defer close(j.finished)
		j.report, j.err = u.work(j, st)
	})
	return j
}

func (u *uploads) work(j *job, st *stage) (*upload.Report, error) {
	if err := u.enter(u.ctx); err != nil {
		return nil, err
	}
	defer u.leave()
	o := st.options()
	o.Progress = func(done, total int64) {
		j.done.Store(done)
		j.total.Store(total)
	}
	shown := &upload.Report{}
	o.Keep = func(list upload.List, e upload.Element) error {
		keepFirst(shown, list, e)
		return nil
	}
	do := u.service.Plan
	if j.imports {
		do = u.service.Import
	}
	report, err := do(u.ctx, st.Files, o)
	if err != nil && !errors.Is(err, upload.ErrFaulty) {
		if !errors.Is(err, context.Canceled) {
			u.log.Error("work on an upload", "upload", st.ID, "imports", j.imports, "error", err.Error())
		}
		return nil, err
	}
	report.Created, report.Revised, report.Unchanged = shown.Created, shown.Revised, shown.Unchanged
	if err == nil && j.imports {
		if err := u.finish(st, report); err != nil {
			u.log.Error("keep the result of an upload", "upload", st.ID, "error", err.Error())
		}
	}
	return report, err
}

// keepFirst keeps the elements that a page shows.
func keepFirst(r *upload.Report, list upload.List, e upload.Element) {
	to := &r.Unchanged
	switch list {
	case upload.Created:
		to = &r.Created
	case upload.Revised:
		to = &r.Revised
	}
	if len(*to) < view.ShownElements {
		*to = append(*to, e)
	}
}

// patienceForWork is how long a page waits for a job before it shows its progress.
const patienceForWork = 2 * time.Second

// wait returns whether the job was over in that time.
func (j *job) wait(ctx context.Context) bool {
	timer := time.NewTimer(patienceForWork)
	defer timer.Stop()
	select {
	case <-j.finished:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return j.over()
}
