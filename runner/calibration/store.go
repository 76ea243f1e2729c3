package calibration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rebench/internal/rebench"
)

// Store keeps calibrations as JSON files in one directory. Nothing is ever
// overwritten: the newest that fits is used.
type Store struct {
	Dir string
}

// name sorts by time within one key.
func (s Store) name(c *Calibration) string {
	return fmt.Sprintf("%s-%013d.json", c.Key.Digest(), c.At.UnixMilli())
}

// Save writes a calibration that passes Check.
func (s Store) Save(c *Calibration) error {
	if err := c.Check(); err != nil {
		return err
	}
	fail := func(err error) error {
		return rebench.Errorf(rebench.CodeInternal, "save calibration: %w", err)
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fail(err)
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fail(err)
	}
	f, err := os.CreateTemp(s.Dir, ".new-*")
	if err != nil {
		return fail(err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fail(err)
	}
	if err := os.Rename(f.Name(), filepath.Join(s.Dir, s.name(c))); err != nil {
		return fail(err)
	}
	return nil
}

// Load returns the newest calibration for the key; CodeNotFound when there is none.
func (s Store) Load(key Key) (*Calibration, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, rebench.Errorf(rebench.CodeInternal, "calibrations: %w", err)
	}
	prefix := key.Digest() + "-"
	for _, e := range slices.Backward(entries) { // ReadDir sorts by name
		if !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		c, err := read(filepath.Join(s.Dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if c.Key.Digest() != key.Digest() {
			return nil, rebench.Errorf(rebench.CodeInternal, "calibration %s does not hold the key its name says; remove it", e.Name())
		}
		return c, c.Check()
	}
	return nil, rebench.Errorf(rebench.CodeNotFound, "no calibration of %s (%s) fits this machine, scorer and software", key.Environment, key.Profile)
}

func read(path string) (*Calibration, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "calibration: %w", err)
	}
	c := &Calibration{}
	if err := json.Unmarshal(b, c); err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "calibration %s is damaged: %w; remove it", path, err)
	}
	return c, nil
}
