package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func manyFiles(tb testing.TB, n, size int) string {
	tb.Helper()
	dir := tb.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", i)), make([]byte, size), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}
