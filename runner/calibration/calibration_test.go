package calibration

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rebench/internal/rebench"
)

var testKey = Key{Environment: rebench.OptimizeKernel, Version: "1", Profile: rebench.ProfileCPU, Threads: 1}

func TestMeasureInterleavesAndSummarizes(t *testing.T) {
	var order string
	startRuns, refRuns := []float64{10, 11, 9, 10, 12}, []float64{5, 5.5, 4.5, 5, 5}
	si, ri := 0, 0
	c, err := Measure(context.Background(), testKey, rebench.Minimize, 5, func(_ context.Context, reference bool) (float64, *float64, error) {
		if reference {
			order += "R"
			ri++
			return refRuns[ri-1], nil, nil
		}
		order += "S"
		si++
		return startRuns[si-1], nil, nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if order != "SRRSSRRSSR" {
		t.Errorf("order %s", order)
	}
	// By hand: start sorted 9 10 10 11 12, mean 10.4, squares 0.16+0.36+1.96+0.16+2.56 = 5.2, /4 = 1.3.
	if c.Start.Median != 10 || math.Abs(c.Start.SD-math.Sqrt(1.3)) > 1e-12 || c.Start.N != 5 || c.Paired {
		t.Errorf("start %+v", c.Start)
	}
	// Reference: mean 5, squares 0.25+0.25 = 0.5, /4.
	if c.Reference.Median != 5 || math.Abs(c.Reference.SD-math.Sqrt(0.125)) > 1e-12 {
		t.Errorf("reference %+v", c.Reference)
	}
	for raw, want := range map[float64]float64{10: 0, 5: 1, 7.5: 0.5, 0: 2, 12.5: -0.5} {
		if n, err := c.Normalize(raw); err != nil || n != want {
			t.Errorf("Normalize(%v) = %v, %v; expected %v", raw, n, err, want)
		}
	}
}

// A machine that halves its speed for some runs slows both of a pair; the
// calibration does not see it.
func TestMeasurePaired(t *testing.T) {
	slow := []float64{0, 0, 0.7, 0.7, 0, 0, 0.7, 0, 0, 0.7} // ln
	i := 0
	c, err := Measure(context.Background(), testKey, rebench.Minimize, 5, func(_ context.Context, reference bool) (float64, *float64, error) {
		d := slow[i]
		noise := 0.001 * float64(i%3)
		i++
		paired := 1 + d
		if reference {
			return 1 + d + noise, &paired, nil
		}
		return 2 + d + noise, &paired, nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Paired || c.Start.SD > 0.002 || c.Reference.SD > 0.002 || math.Abs(c.Start.Median-c.Reference.Median-1) > 0.002 {
		t.Errorf("%+v", c)
	}
}

func TestCheckRefusesWhatIsNotClear(t *testing.T) {
	side := func(runs ...float64) Side { return NewSide(runs) }
	cases := map[string]struct {
		dir        rebench.Direction
		start, ref Side
		want       string // "" for accepted
	}{
		"clear, lower":      {rebench.Minimize, side(10, 10.1, 9.9, 10, 10), side(5, 5.1, 4.9, 5, 5), ""},
		"clear, higher":     {rebench.Maximize, side(.5, .51, .49, .5, .5), side(.8, .81, .79, .8, .8), ""},
		"deterministic":     {rebench.Maximize, side(0, 0, 0, 0, 0), side(1, 1, 1, 1, 1), ""},
		"equal":             {rebench.Minimize, side(1, 1, 1, 1, 1), side(1, 1, 1, 1, 1), "not better"},
		"wrong way":         {rebench.Minimize, side(5, 5, 5, 5, 5), side(10, 10, 10, 10, 10), "not better"},
		"wrong way, higher": {rebench.Maximize, side(1, 1, 1, 1, 1), side(0, 0, 0, 0, 0), "not better"},
		"within noise":      {rebench.Minimize, side(10, 12, 8, 10, 10), side(7, 7, 7, 7, 7), "noise"},
		"too few":           {rebench.Minimize, side(10, 10, 10, 10), side(5, 5, 5, 5, 5), "at least 5"},
		"one run of it overlaps": {rebench.Minimize, side(10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10),
			side(5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 11), "a run of the reference"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := (&Calibration{Direction: c.dir, Start: c.start, Reference: c.ref}).Check()
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, expected one about %q", err, c.want)
			case err != nil && rebench.ErrorCode(err) != rebench.CodeConflict:
				t.Errorf("code %v", rebench.ErrorCode(err))
			}
		})
	}
}

func TestMeasureReturnsARunsFault(t *testing.T) {
	boom := errors.New("boom")
	if _, err := Measure(context.Background(), testKey, rebench.Minimize, 5, func(context.Context, bool) (float64, *float64, error) { return 0, nil, boom }, nil); !errors.Is(err, boom) {
		t.Error(err)
	}
	if _, err := Measure(context.Background(), testKey, rebench.Minimize, 4, nil, nil); rebench.ErrorCode(err) != rebench.CodeInvalid {
		t.Error(err)
	}
}

func TestStore(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "calibrations")}
	if _, err := s.Load(testKey); rebench.ErrorCode(err) != rebench.CodeNotFound {
		t.Fatalf("empty store: %v", err)
	}
	make := func(key Key, ref float64, at time.Time) *Calibration {
		return &Calibration{ID: "x", Key: key, Direction: rebench.Minimize, Start: NewSide([]float64{10, 10, 10, 10, 10}),
			Reference: NewSide([]float64{ref, ref, ref, ref, ref}), At: at}
	}
	now := time.Now()
	other := testKey
	other.Software = map[string]string{"torch": "2.0"}
	for _, c := range []*Calibration{make(testKey, 4, now), make(testKey, 5, now.Add(time.Second)), make(other, 6, now.Add(time.Hour))} {
		if err := s.Save(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Save(make(testKey, 20, now)); rebench.ErrorCode(err) != rebench.CodeConflict {
		t.Errorf("an unclear calibration was stored: %v", err)
	}
	c, err := s.Load(testKey)
	if err != nil || c.Reference.Median != 5 {
		t.Errorf("loaded %+v, %v; expected the newest", c, err)
	}
	if c, err := s.Load(other); err != nil || c.Reference.Median != 6 {
		t.Errorf("loaded %+v, %v", c, err)
	}
	// Every field of the key separates.
	for i, change := range []func(*Key){
		func(k *Key) { k.Environment = "x" }, func(k *Key) { k.Version = "2" }, func(k *Key) { k.Profile = "gpu" },
		func(k *Key) { k.ScorerSHA256 = "x" }, func(k *Key) { k.AssetsSHA256 = "x" }, func(k *Key) { k.Hardware = "x" },
		func(k *Key) { k.GPU = "x" }, func(k *Key) { k.Tier = "x" }, func(k *Key) { k.Threads = 2 },
		func(k *Key) { k.Software = map[string]string{"torch": "2"} }, func(k *Key) { k.OpenBLAS = map[string]string{"OPENBLAS_CORETYPE": "Haswell"} },
	} {
		k := testKey
		change(&k)
		if k.Digest() == testKey.Digest() {
			t.Errorf("change %d does not change the digest", i)
		}
		if i != 0 {
			if _, err := s.Load(k); i != 9 && rebench.ErrorCode(err) != rebench.CodeNotFound {
				t.Errorf("change %d: %v", i, err)
			}
		}
	}
	paths, _ := filepath.Glob(filepath.Join(s.Dir, testKey.Digest()+"-*.json"))
	if err := os.WriteFile(paths[len(paths)-1], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(testKey); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct{ x, noise, want float64 }{
		{1.23456, 0.02, 1.24}, {1.23456, 0.021, 1.25}, {1.23456, 0.05, 1.25}, {1.23456, 0.06, 1.2}, {1.23456, 0.1, 1.2},
		{-1.23456, 0.01, -1.23}, {0, 0.1, 0}, {123456.7, 300, 123500}, {0.000123456789, 0, 0.000123457}, {5, 0, 5}, {0.8149, 0.001, 0.815},
		{7.123456, 0.1, 7.1},
	} {
		if got := Round(c.x, c.noise); math.Abs(got-c.want) > 1e-12*math.Max(1, math.Abs(c.want)) {
			t.Errorf("Round(%v, %v) = %v, expected %v", c.x, c.noise, got, c.want)
		}
	}
	// Property: the step is at least the noise and at most 2.5 times it.
	for n := 0.00013; n < 1000; n *= 1.37 {
		a := Round(1e6, n)
		step := math.Inf(1)
		for x := 1e6; x < 1e6+10*n; x += n / 50 {
			if d := Round(x, n) - a; d > 1e-9 {
				step = d
				break
			}
		}
		if step < n*(1-1e-6) || step > 2.5*n*(1+1e-6) {
			t.Errorf("noise %v: step %v", n, step)
		}
	}
}
