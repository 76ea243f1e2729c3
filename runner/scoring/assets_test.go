package scoring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rebench/runner/environment"
)

// builder writes two files that depend on its input, and counts its runs in a
// file outside, if it could reach one.
const builder = `import json, pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "common"))
import scoring
asked = json.load(sys.stdin)
out = pathlib.Path(asked["out_dir"])
for name in ("public", "private"):
    (out / name).mkdir()
    (out / name / "data.txt").write_text(name + json.dumps([asked["profile"], asked["params"], asked["assets"]], sort_keys=True))
print("chatter")
print(json.dumps({"rows": asked["params"]["n"]}))
`

func withBuilder(t *testing.T, program string) *environment.Environment {
	t.Helper()
	env := toy(t, "")
	if err := os.WriteFile(filepath.Join(env.Dir, "assets.py"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	return env
}

func TestBuildAssets(t *testing.T) {
	exec := service(t, "").cfg.Executor
	dir := t.TempDir()
	env := withBuilder(t, builder)
	p := env.Profiles["test"]
	p.Assets = map[string]any{"size": 5}
	first, err := BuildAssets(t.Context(), exec, env, p, dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"public": `public["test", {"n": 3}, {"size": 5}]`, "private": `private["test", {"n": 3}, {"size": 5}]`} {
		if got, err := os.ReadFile(filepath.Join(first.Dir, name, "data.txt")); err != nil || string(got) != want {
			t.Errorf("found %q, %v, expected %q", got, err, want)
		}
	}
	if string(first.Facts) != `{"rows":3}` || len(first.SHA256) != 64 {
		t.Errorf("found %+v", first)
	}
	// A record that is there is taken: mark it, and look for the mark.
	record := filepath.Join(filepath.Dir(first.Dir), assetsRecord)
	raw, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(record, []byte(strings.Replace(string(raw), `"rows":3`, `"rows":4`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if again, err := BuildAssets(t.Context(), exec, env, p, dir); err != nil || string(again.Facts) != `{"rows":4}` {
		t.Errorf("found %s, %v: built again though all was there", again.Facts, err)
	}
	if err := os.WriteFile(filepath.Join(first.Dir, "public", "data.txt"), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	mended, err := BuildAssets(t.Context(), exec, env, p, dir)
	if err != nil || mended.SHA256 != first.SHA256 || string(mended.Facts) != `{"rows":3}` {
		t.Errorf("found %+v, %v; expected damaged assets to be built again", mended, err)
	}
	p.Assets = map[string]any{"size": 6}
	if other, err := BuildAssets(t.Context(), exec, env, p, dir); err != nil || other.Dir == first.Dir || other.SHA256 == first.SHA256 {
		t.Errorf("found %+v, %v; expected other assets for other input", other, err)
	}
}

func TestBuildAssetsFailsLoudly(t *testing.T) {
	exec := service(t, "").cfg.Executor
	for name, tc := range map[string]struct{ program, want string }{
		"raises":   {"raise SystemExit('no corpus here')", "no corpus here"},
		"no facts": {"print('done')", "expected a JSON object"},
		"link":     {"import os; os.symlink('/etc/passwd', '/out/public'); print('{}')", "symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			env := withBuilder(t, tc.program)
			_, err := BuildAssets(t.Context(), exec, env, env.Profiles["test"], t.TempDir())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("found %v, expected %q", err, tc.want)
			}
		})
	}
	env := toy(t, "")
	if a, err := BuildAssets(t.Context(), exec, env, env.Profiles["test"], t.TempDir()); err != nil || a.Dir != "" {
		t.Errorf("without a builder: found %+v, %v", a, err)
	}
}
