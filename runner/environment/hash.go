package environment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"rebench/internal/rebench"
	"rebench/runner/sandbox"
)

// ScorerHash identifies the trusted side of the environment: the declaration,
// the scorer, the common files it uses, and the solutions that define 0 and 1.
// Scores are comparable only under one hash.
func (e *Environment) ScorerHash() (string, error) {
	temp, err := os.MkdirTemp("", "rebench-common-")
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInternal, "scorer hash: %w", err)
	}
	defer os.RemoveAll(temp)
	common := filepath.Join(temp, "common")
	if err := e.CopyCommon(common); err != nil {
		return "", err
	}
	declaration, err := os.ReadFile(filepath.Join(e.Dir, "environment.yaml"))
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInvalid, "scorer hash: %w", err)
	}
	var parts []string
	for _, dir := range []string{filepath.Join(e.Dir, "scorer"), common, e.StartDir(), e.ReferenceDir()} {
		sum, err := sandbox.SourceHash(dir)
		if err != nil {
			return "", fmt.Errorf("scorer hash of %s: %w", e.ID, err)
		}
		parts = append(parts, sum)
	}
	return CombineHashes(declaration, parts[0], parts[1], parts[2], parts[3]), nil
}

// CombineHashes makes a ScorerHash of its parts: the text of environment.yaml
// and the SourceHash of each tree.
func CombineHashes(declaration []byte, scorer, common, start, reference string) string {
	d := sha256.Sum256(declaration)
	sum := sha256.Sum256(fmt.Appendf(nil, "environment.yaml %x\nscorer %s\ncommon %s\nstart %s\nreference %s\n", d, scorer, common, start, reference))
	return hex.EncodeToString(sum[:])
}

// CopyCommon copies the common files that the scorer uses to the new directory dst.
func (e *Environment) CopyCommon(dst string) error {
	if err := os.Mkdir(dst, 0o755); err != nil {
		return rebench.Errorf(rebench.CodeInternal, "common files: %w", err)
	}
	return copyTrees(e.CommonDir(), e.Scorer.Common, dst)
}

// CopyAssetsSources copies what assets.py uses of its own package to the directory dst.
func (e *Environment) CopyAssetsSources(dst string) error {
	return copyTrees(e.Dir, e.AssetsSources, dst)
}

// copyTrees copies the named files and directories below dir to the same places below dst.
func copyTrees(dir string, names []string, dst string) error {
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			at := filepath.Join(dst, rel)
			switch {
			case d.IsDir() && d.Name() == "__pycache__":
				return filepath.SkipDir
			case d.IsDir():
				return os.MkdirAll(at, 0o755)
			case !d.Type().IsRegular():
				return fmt.Errorf("%s is not a regular file", rel)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, content, 0o644))
		})
		if err != nil {
			return rebench.Errorf(rebench.CodeInvalid, "%s in %s: %w", name, dir, err)
		}
	}
	return nil
}
