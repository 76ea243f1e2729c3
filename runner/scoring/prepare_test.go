package scoring

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rebench/runner/environment"
)

const toyPrepare = `import json, pathlib, sys
asked = json.load(sys.stdin)
out = pathlib.Path(asked["out_dir"])
(out / "solution").mkdir()
(out / "solution" / "weights").write_text(asked["attempt_key"])
(out / "data").mkdir()
(out / "data" / "n").write_text(str(asked["params"]["n"]))
`

func prepared(t *testing.T, s *Service, env *environment.Environment, attempt string) (Prepared, error) {
	t.Helper()
	dir, err := os.MkdirTemp(testDir, "prepared-")
	if err != nil {
		t.Fatal(err)
	}
	return s.Prepare(context.Background(), PrepareRequest{Attempt: attempt, Environment: env, Profile: env.Profiles["test"]}, filepath.Join(dir, "files"))
}

func withPrepare(t *testing.T, env *environment.Environment, program string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(env.Dir, prepareEntry), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The workspace and every scoring of an attempt see one key, other attempts another.
func TestPrepareAndScoringShareTheAttemptKey(t *testing.T) {
	s := service(t, "")
	env := toy(t, `scoring.main(lambda r, runner: scoring.valid(1, details={"key": r.attempt.bytes("x").hex(), "draw": r.draws.bytes("x").hex()}))`)
	withPrepare(t, env, toyPrepare)
	p, err := prepared(t, s, env, "attempt-1")
	if err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, filepath.Join(p.SolutionDir, "weights")); got != hex.EncodeToString(p.Key[:]) {
		t.Errorf("the program was given the key %s, expected %x", got, p.Key)
	}
	if got := mustRead(t, filepath.Join(p.DataDir, "n")); got != "3" {
		t.Errorf("data: found %q, expected 3", got)
	}
	if p.Key != AttemptKey(s.cfg.Secret, "attempt-1", "toy") || p.Key == AttemptKey(s.cfg.Secret, "attempt-2", "toy") ||
		p.Key == AttemptKey(s.cfg.Secret, "attempt-1", "to") || p.Key == AttemptKey([]byte("another secret ..."), "attempt-1", "toy") {
		t.Error("the key does not depend on exactly secret, attempt and environment")
	}
	dir := solution(t, map[string]string{"solution.py": ""})
	req := request(env, dir)
	var keys, draws []string
	for _, index := range []uint64{1, 2} {
		req.Index = index
		out, err := s.Score(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		text := string(out.Verdict.Details)
		keys, draws = append(keys, field(text, "key")), append(draws, field(text, "draw"))
	}
	if keys[0] != keys[1] || draws[0] == draws[1] || len(keys[0]) != 64 {
		t.Errorf("keys %v, draws %v: expected one key and two draws", keys, draws)
	}
}

// field takes a string out of a flat JSON object.
func field(text, name string) string {
	_, rest, _ := strings.Cut(strings.ReplaceAll(text, " ", ""), `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

func TestPrepareWithoutProgram(t *testing.T) {
	s := service(t, "")
	p, err := prepared(t, s, toy(t, ""), "attempt-1")
	if err != nil || p.SolutionDir != "" || p.DataDir != "" || p.Key == [32]byte{} {
		t.Errorf("found %+v, %v; expected a key alone", p, err)
	}
}

func TestPrepareFailsLoudly(t *testing.T) {
	s := service(t, "")
	env := toy(t, "")
	withPrepare(t, env, "raise SystemExit('no weights here')")
	if _, err := prepared(t, s, env, "attempt-1"); err == nil || !strings.Contains(err.Error(), "no weights here") {
		t.Errorf("found %v, expected the program's own words", err)
	}
	withPrepare(t, env, "import os; os.symlink('/etc/passwd', '/out/solution')")
	if _, err := prepared(t, s, env, "attempt-1"); err == nil {
		t.Error("a link was taken for a file")
	}
}

// A builder reads the files that its package names, and a change of theirs builds again.
func TestAssetsFromNamedSources(t *testing.T) {
	s := service(t, "")
	env := toy(t, "")
	env.AssetsSources = []string{"solutions/start"}
	const builder = `import json, pathlib, sys
here = pathlib.Path(__file__).parent
out = pathlib.Path(json.load(sys.stdin)["out_dir"])
(out / "private").mkdir()
(out / "private" / "copy").write_text((here / "solutions/start/solution.py").read_text())
print(json.dumps({"reference": (here / "solutions/reference").exists()}))
`
	if err := os.WriteFile(filepath.Join(env.Dir, "assets.py"), []byte(builder), 0o644); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(testDir, "assets-")
	if err != nil {
		t.Fatal(err)
	}
	build := func() Assets {
		a, err := BuildAssets(t.Context(), s.cfg.Executor, env, env.Profiles["test"], dir)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := build()
	if got := mustRead(t, filepath.Join(a.Dir, "private", "copy")); got != "print('start', 6 * 7)\n" || string(a.Facts) != `{"reference":false}` {
		t.Errorf("found %q and facts %s, expected the start's text alone", got, a.Facts)
	}
	if err := os.WriteFile(filepath.Join(env.StartDir(), "solution.py"), []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b := build(); b.Dir == a.Dir || mustRead(t, filepath.Join(b.Dir, "private", "copy")) != "changed" {
		t.Error("a changed source did not build the assets again")
	}
}
