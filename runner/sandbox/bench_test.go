package sandbox

import (
	"context"
	"slices"
	"testing"
	"time"
)

func start(tb testing.TB, b *Bubblewrap, spec Spec) Process {
	tb.Helper()
	if spec.Name == "" {
		spec.Name = "test"
	}
	if spec.Role == "" {
		spec.Role = RoleSubmission
	}
	if spec.Root == nil {
		spec.Root = testRoot(tb, b)
	}
	if spec.Env == nil {
		spec.Env = BaseEnv(spec.Root, 1)
	}
	p, err := b.Start(context.Background(), spec)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = p.Kill(context.Background()) })
	return p
}

// quantiles reports the median and the 95th percentile in microseconds.
func quantiles(b *testing.B, name string, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, name+"-p50-us")
	b.ReportMetric(float64(times[len(times)*95/100].Nanoseconds())/1e3, name+"-p95-us")
}

func BenchmarkStart(b *testing.B) {
	for _, tier := range tiers(b) {
		b.Run(string(tier), func(b *testing.B) {
			e := newExecutor(b, tier)
			root := testRoot(b, e)
			for name, argv := range map[string][]string{"true": {"/usr/bin/true"}, "python": {"python3", "-I", "-B", "-c", "pass"}, "numpy": {"python3", "-I", "-B", "-c", "import numpy"}} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						runIn(b, e, Spec{Root: root, Argv: argv})
					}
				})
			}
		})
	}
}

func BenchmarkStop(b *testing.B) {
	for _, tier := range tiers(b) {
		for name, argv := range map[string][]string{
			"sleeping": {"sleep", "1000"},
			"spinning": {"python3", "-c", "while True: pass"},
			"threads":  {"python3", "-c", "import threading,time\nfor i in range(8): threading.Thread(target=time.sleep, args=(1000,)).start()\nwhile True: pass"},
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
			})
		}
	}
}

// tiers lists the tiers that can run here.
func tiers(tb testing.TB) []TierName {
	tb.Helper()
	var out []TierName
	for _, tier := range []TierName{TierCgroup2, TierCgroup1, TierRlimit} {
		c, err := newConfiner(tier, "probe")
		if err != nil {
			tb.Logf("tier %s cannot run here: %v", tier, err)
			continue
		}
		if err := c.close(); err != nil {
			tb.Fatal(err)
		}
		out = append(out, tier)
	}
	return out
}
