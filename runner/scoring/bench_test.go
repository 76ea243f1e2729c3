package scoring

import (
	"encoding/json"
	"testing"
)

// BenchmarkScorer measures, from inside a scorer, what its requests take, and
// from outside what a whole scoring takes beyond the submission's own time.
func BenchmarkScorer(b *testing.B) {
	s := service(b, "")
	env := toy(b, `
import statistics
def lap(f, n):
    out = []
    for _ in range(n):
        t = time.perf_counter(); f(); out.append(1e6 * (time.perf_counter() - t))
    return statistics.median(out)
def score(req, runner):
    d = {}
    d["spawn_and_wait_us"] = lap(lambda: runner.spawn("run", "snapshot", ["true"]).wait(), 20)
    d["build_spawn_and_wait_us"] = lap(lambda: runner.spawn("build", "snapshot", ["true"], writable=True).wait(), 20)
    p = runner.spawn("run", "snapshot", ["sleep", "1000"])
    q = runner.spawn("run", "snapshot", ["sh", "-c", "while :; do :; done"])
    time.sleep(0.2)
    for name, job in (("sleeping", p), ("spinning", q)):
        stops, conts = [], []
        for _ in range(200):
            t = time.perf_counter(); job.stop(); stops.append(1e6 * (time.perf_counter() - t))
            t = time.perf_counter(); job.cont(); conts.append(1e6 * (time.perf_counter() - t))
            time.sleep(0.001)
        d["stop_%s_us" % name], d["cont_%s_us" % name] = statistics.median(stops), statistics.median(conts)
    d["wait_poll_us"] = lap(lambda: p.wait(0), 200)
    d["timed_us"] = lap(lambda: timed(runner), 20)
    return scoring.valid(0, details=d)
def timed(runner):
    with runner.timed(): pass
scoring.main(score)
`)
	dir := solution(b, map[string]string{"x": ""})
	var last Outcome
	for b.Loop() {
		last = mustScore(b, s, env, dir)
	}
	var found map[string]float64
	if err := json.Unmarshal(last.Verdict.Details, &found); err != nil {
		b.Fatal(err)
	}
	for name, value := range found {
		b.ReportMetric(value, name)
	}
}

// BenchmarkEmptyScoring measures a scoring whose scorer does nothing.
func BenchmarkEmptyScoring(b *testing.B) {
	s := service(b, "")
	env := toy(b, "print(json.dumps(scoring.valid(0)))")
	dir := solution(b, map[string]string{"x": ""})
	for b.Loop() {
		mustScore(b, s, env, dir)
	}
}
