package attempt

import (
	"io/fs"
	"os"
	"path/filepath"

	"rebench/internal/rebench"
)

// Overlay copies trusted trees, or finished snapshots, to dst, later files over
// earlier ones. Only directories and regular files are taken.
func Overlay(dst string, trees ...string) error {
	for _, tree := range trees {
		if err := overlay(tree, dst); err != nil {
			return rebench.Errorf(rebench.CodeInternal, "lay %s over %s: %w", tree, dst, err)
		}
	}
	return nil
}

func overlay(src, dst string) error {
	return filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		at := filepath.Join(dst, rel)
		if d.IsDir() {
			return os.MkdirAll(at, 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return rebench.Errorf(rebench.CodeInvalid, "%s is not a regular file", rel)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		if err := os.WriteFile(at, content, mode); err != nil {
			return err
		}
		return os.Chmod(at, mode)
	})
}
