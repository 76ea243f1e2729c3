// Package architecture tests that dependencies point downwards.
package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "rebench"

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string // transitive
}

func packages(t *testing.T) map[string]listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	out, err := cmd.Output()
	if err != nil {
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %v\n%s", err, e.Stderr)
		}
		t.Fatal(err)
	}
	all := map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// within reports whether a package is path or lies below it.
func within(pkg, path string) bool { return pkg == path || strings.HasPrefix(pkg, path+"/") }

// rules say what packages may not depend on, directly or through others.
var rules = []struct {
	of, never string
	why       string
}{
	{"rebench/internal", "rebench/server", "what is served does not know how"},
	{"rebench/internal", "rebench/web", "results do not know how they look"},
	{"rebench/internal", "rebench/runner", "results do not know how attempts are run"},
	{"rebench/web", "rebench/server", "views do not know the server"},
	{"rebench/web", "rebench/internal/store", "views show results, they fetch none"},
	{"rebench/web", "rebench/runner", "views show results, they run nothing"},
	{"rebench/runner", "rebench/server", "the runner speaks to a server over HTTP"},
	{"rebench/runner", "rebench/web", "the runner has no pages"},
	{"rebench/runner", "rebench/internal/store", "the runner keeps logs, not a database"},
	{"rebench/internal/analysis", "rebench/internal/store", "analysis takes an interface"},
	{"rebench/internal/analysis", "rebench/internal/ingest", "analysis reads what is stored"},
	{"rebench/internal/ingest", "rebench/internal/store", "decoders only decode"},
	{"rebench/data", "rebench/internal", "the data stand alone"},
	{"rebench/internal/analysis", "net/http", "results do not know the web"},
}

func TestDependenciesPointDown(t *testing.T) {
	all := packages(t)
	for _, r := range rules {
		checked := 0
		for path, p := range all {
			if !within(path, r.of) {
				continue
			}
			checked++
			for _, dep := range p.Deps {
				if within(dep, r.never) {
					t.Errorf("%s depends on %s: %s", path, dep, r.why)
				}
			}
		}
		if checked == 0 {
			t.Errorf("no package lies below %s: the rule checks nothing", r.of)
		}
	}
}

// owners are the only packages that may import a library.
var owners = []struct {
	library string
	owner   []string
}{
	{"gorm.io", []string{"rebench/internal/store"}},
	{"modernc.org/sqlite", []string{"rebench/internal/store"}},
	{"github.com/pressly/goose", []string{"rebench/internal/store"}},
	{"database/sql", []string{"rebench/internal/store"}},
	{"github.com/gin-gonic/gin", []string{"rebench/server/handler"}},
	{"github.com/go-echarts/go-echarts", []string{"rebench/web/chart"}},
	{"github.com/spf13/cobra", []string{"rebench/server", "rebench/runner"}},
}

func TestLibrariesHaveOneOwner(t *testing.T) {
	for path, p := range packages(t) {
		if !within(path, module) {
			continue
		}
		for _, o := range owners {
			if slices.Contains(o.owner, path) {
				continue
			}
			for _, dep := range p.Imports {
				if within(dep, o.library) {
					t.Errorf("%s imports %s, which is for %s only", path, dep, strings.Join(o.owner, ", "))
				}
			}
		}
	}
}

// The innermost packages import the standard library and each other only, and
// statistics do no I/O.
func TestCoreIsPlain(t *testing.T) {
	all := packages(t)
	for path, allowed := range map[string][]string{
		"rebench/internal/rebench":    nil,
		"rebench/internal/stats":      {"rebench/internal/rebench"},
		"rebench/internal/attemptlog": {"rebench/internal/rebench"},
		"rebench/data":                nil,
	} {
		p, ok := all[path]
		if !ok {
			t.Errorf("%s does not exist", path)
		}
		for _, dep := range p.Imports {
			if !all[dep].Standard && !slices.Contains(allowed, dep) {
				t.Errorf("%s imports %s", path, dep)
			}
		}
	}
	for _, dep := range all["rebench/internal/stats"].Imports {
		if slices.Contains([]string{"os", "io", "net", "net/http", "log/slog"}, dep) {
			t.Errorf("rebench/internal/stats imports %s", dep)
		}
	}
}
