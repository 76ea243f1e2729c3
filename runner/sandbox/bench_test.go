package sandbox

import (
	"context"
	"slices"
	"testing"
	"time"
)

// quantiles reports the median and the 95th percentile in microseconds.
func quantiles(b *testing.B, name string, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, name+"-p50-us")
	b.ReportMetric(float64(times[len(times)*95/100].Nanoseconds())/1e3, name+"-p95-us")
}

// BenchmarkStart measures a sandbox from Start to its end.
func BenchmarkStart(b *testing.B) {
	for _, tier := range tiers(b) {
		e := newExecutor(b, tier)
		root, err := e.Root(context.Background(), fullRoot)
		if err != nil {
			b.Fatal(err)
		}
		for name, argv := range map[string][]string{"true": {"true"}, "python": python("pass"), "numpy": python("import numpy")} {
			b.Run(string(tier)+"/"+name, func(b *testing.B) {
				var times []time.Duration
				for b.Loop() {
					t0 := time.Now()
					run(b, e, Spec{Root: root, Argv: argv})
					times = append(times, time.Since(t0))
				}
				quantiles(b, "run", times)
			})
		}
	}
}

// BenchmarkStop measures Freeze, until every thread has stopped, and Thaw.
func BenchmarkStop(b *testing.B) {
	for _, tier := range tiers(b) {
		for name, argv := range map[string][]string{
			"sleeping": {"sleep", "1000"},
			"spinning": python("while True: pass"),
			"threads":  python("import threading,time\nfor i in range(8): threading.Thread(target=time.sleep, args=(1000,)).start()\nwhile True: pass"),
		} {
			b.Run(string(tier)+"/"+name, func(b *testing.B) {
				e := newExecutor(b, tier)
				p := start(b, e, Spec{Argv: argv, Limits: Limits{Wall: -1, CPUs: 2}})
				time.Sleep(200 * time.Millisecond)
				var stop, cont []time.Duration
				ctx := context.Background()
				for b.Loop() {
					t0 := time.Now()
					if err := p.Freeze(ctx); err != nil {
						b.Fatal(err)
					}
					t1 := time.Now()
					if err := p.Thaw(ctx); err != nil {
						b.Fatal(err)
					}
					stop, cont = append(stop, t1.Sub(t0)), append(cont, time.Since(t1))
					time.Sleep(time.Millisecond)
				}
				quantiles(b, "stop", stop)
				quantiles(b, "cont", cont)
				if err := p.Kill(ctx); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// BenchmarkSnapshot measures a solution of 100 files of 10 KB.
func BenchmarkSnapshot(b *testing.B) {
	dir := manyFiles(b, 100, 10_000)
	for i := 0; b.Loop(); i++ {
		dst := b.TempDir() + "/copy"
		if _, err := TakeSnapshot(context.Background(), dir, ".", dst, SnapshotLimits{}); err != nil {
			b.Fatal(err)
		}
	}
}
