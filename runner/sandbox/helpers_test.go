package sandbox

import (
	"context"
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

var workspaceCount int

func newWorkspace(tb testing.TB, b *Bubblewrap, space Space) Workspace {
	tb.Helper()
	workspaceCount++
	w, err := b.NewWorkspace(context.Background(), WorkspaceSpec{Name: fmt.Sprintf("w-%s-%d", b.id, workspaceCount), Role: RoleSubmission, Space: space})
	if err != nil {
		tb.Fatal(err)
	}
	return w
}
