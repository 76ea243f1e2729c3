package handler

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rebench/internal/ingest"
	"rebench/internal/rebench"
	"rebench/internal/upload"
)

// stageLife is how long files wait for their confirmation.
const stageLife = 24 * time.Hour

const (
	// maxStaged bounds the disk that waiting uploads take together.
	maxStaged = 16 << 30
	// decodings is how many uploads are decoded at once: each may hold some megabytes.
	decodings = 2
	// sweepEvery is how often expired uploads are looked for.
	sweepEvery = 10 * time.Minute
)

// uploads keeps files on disk: for the length of a request, or staged from preview
// to confirmation, and does the work on staged ones in the background.
type uploads struct {
	dir     string
	service *upload.Service
	log     *slog.Logger
	turns   chan struct{}

	ctx    context.Context // of background work
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	jobs   map[string]*job // by stage
}

// newUploads prepares dir and removes what the last process left half done.
func newUploads(dir string, service *upload.Service, log *slog.Logger) (*uploads, error) {
	u := &uploads{dir: dir, service: service, log: log, turns: make(chan struct{}, decodings), jobs: map[string]*job{}}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	if err := os.RemoveAll(u.temp()); err != nil {
		return nil, err
	}
	for _, d := range []string{u.temp(), u.staged()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	service.TempDir = u.temp()
	u.expire()
	u.wg.Go(u.sweep)
	return u, nil
}

// stop ends background work and waits for it.
func (u *uploads) stop() {
	u.cancel()
	u.wg.Wait()
}

func (u *uploads) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-u.ctx.Done():
			return
		case <-tick.C:
			u.expire()
		}
	}
}

// enter waits for a turn to decode files; leave ends it.
func (u *uploads) enter(ctx context.Context) error {
	select {
	case u.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (u *uploads) leave() { <-u.turns }

func (u *uploads) temp() string   { return filepath.Join(u.dir, "temp") }
func (u *uploads) staged() string { return filepath.Join(u.dir, "staged") }

func (u *uploads) tempDir() (string, error) { return os.MkdirTemp(u.temp(), "upload-") }

// full reports whether waiting uploads leave no room for another.
func (u *uploads) full() bool {
	var total int64
	_ = filepath.WalkDir(u.staged(), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil // what has just gone takes no room
	})
	return total > maxStaged
}

// stage is an upload between preview and confirmation.
type stage struct {
	ID          string         `json:"id"`
	Author      string         `json:"author"`
	Trusted     bool           `json:"trusted"`
	At          time.Time      `json:"at"`
	Files       []upload.File  `json:"files"`
	Mapping     ingest.Mapping `json:"mapping"`
	Partial     bool           `json:"partial"`
	MakeCurrent bool           `json:"make_current"`
	// Done is the report of the import, once there is one.
	Done *upload.Report `json:"done,omitempty"`
}

func (st *stage) options() upload.Options {
	return upload.Options{Mapping: st.Mapping, Author: st.Author, Trusted: st.Trusted, Ref: st.ID[:16], Partial: st.Partial, MakeCurrent: st.MakeCurrent}
}

const stageFile = "stage.json"

// keep moves a spooled upload from a temporary folder into a stage.
func (u *uploads) keep(dir string, st *stage) error {
	st.ID = randomID() + randomID()
	st.At = time.Now().UTC()
	target := filepath.Join(u.staged(), st.ID)
	for i := range st.Files {
		st.Files[i].Path = filepath.Join(target, filepath.Base(st.Files[i].Path))
	}
	if err := os.Rename(dir, target); err != nil {
		return err
	}
	return u.save(st)
}

// save writes the stage's description whole or not at all.
func (u *uploads) save(st *stage) error {
	b, err := json.Marshal(st)
	if err != nil {
		return err
	}
	path := filepath.Join(u.staged(), st.ID, stageFile)
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// load returns the stage with an id, which must be one that keep made.
func (u *uploads) load(id string) (*stage, error) {
	gone := rebench.Errorf(rebench.CodeNotFound, "there is no upload waiting under this address: it was discarded or has expired after %v", stageLife)
	if len(id) != 32 || !isHex(id) {
		return nil, gone
	}
	b, err := os.ReadFile(filepath.Join(u.staged(), id, stageFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, gone
	}
	if err != nil {
		return nil, err
	}
	var st stage
	if err := json.Unmarshal(b, &st); err != nil {
		return nil, err
	}
	if time.Since(st.At) > stageLife {
		return nil, errors.Join(gone, u.discard(id))
	}
	return &st, nil
}

func isHex(s string) bool {
	for _, r := range s {
		if !(r >= '0' && r <= '9' || r >= 'a' && r <= 'f') {
			return false
		}
	}
	return true
}

// finish keeps the report of an import and removes the files.
func (u *uploads) finish(st *stage, report *upload.Report) error {
	st.Done = report
	if err := u.save(st); err != nil {
		return err
	}
	for _, f := range st.Files {
		if err := os.Remove(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (u *uploads) discard(id string) error {
	u.mu.Lock()
	delete(u.jobs, id)
	u.mu.Unlock()
	return os.RemoveAll(filepath.Join(u.staged(), id))
}

// expire removes stages that nobody confirmed in time.
func (u *uploads) expire() {
	entries, err := os.ReadDir(u.staged())
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > stageLife {
			if err := u.discard(e.Name()); err != nil {
				u.log.Warn("remove an expired upload", "error", err.Error())
			}
		}
	}
}
