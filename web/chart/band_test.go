package chart

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func closed(x, low, score, high float64) bandPoint {
	return bandPoint{x: x, score: score, low: &low, high: &high}
}

func diffPoints(t *testing.T, what string, got []xy, want []xy) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.AllowUnexported(xy{})); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestBandOfClosedIntervals(t *testing.T) {
	got := band{"a", "blue", 0.1, 1}.areas([]bandPoint{closed(1, 0.1, 0.2, 0.3), closed(2, 0.2, 0.4, 0.6), closed(4, 0.3, 0.5, 0.9)})
	if len(got) != 1 {
		t.Fatalf("%d polygons, want 1", len(got))
	}
	diffPoints(t, "lower ends forwards, upper ends back", got[0].pts, []xy{{1, 0.1}, {2, 0.2}, {4, 0.3}, {4, 0.9}, {2, 0.6}, {1, 0.3}})
}

func TestBandWithOpenUpperEnd(t *testing.T) {
	open := bandPoint{x: 2, score: 0.5, low: ptr(0.25)}
	got := band{"a", "blue", 0.36, 0.6}.areas([]bandPoint{closed(1, 0.125, 0.25, 0.375), open})
	if len(got) != 1+fadeSteps {
		t.Fatalf("%d polygons, want the lower half and %d strips", len(got), fadeSteps)
	}
	diffPoints(t, "lower half", got[0].pts, []xy{{1, 0.125}, {2, 0.25}, {2, 0.5}, {1, 0.25}})
	for i, a := range got[1:] {
		if i > 0 && a.opacity >= got[i].opacity {
			t.Errorf("strip %d does not fade: %v after %v", i, a.opacity, got[i].opacity)
		}
	}
	last := got[fadeSteps].pts
	near(t, "top at the closed end is its interval", last[len(last)-1].y, 0.375)
	near(t, "top at the open end is the fading's reach", last[len(last)-2].y, 1.1)
	near(t, "last strip's opacity", got[fadeSteps].opacity, 0.36/36)
}

func TestBandWithOpenLowerEndAndGap(t *testing.T) {
	pts := []bandPoint{{x: 1, score: 0.5, high: ptr(0.75)}, {x: 2, score: 0.5, high: ptr(1.0)}, {x: 3, score: 0.5}, closed(4, 0.1, 0.2, 0.3)}
	got := band{"a", "blue", 0.1, 0.6}.areas(pts)
	if len(got) != 1+fadeSteps {
		t.Fatalf("%d polygons, want the upper half and %d strips", len(got), fadeSteps)
	}
	diffPoints(t, "upper half", got[0].pts, []xy{{1, 0.5}, {2, 0.5}, {2, 1.0}, {1, 0.75}})
	near(t, "bottom of the last strip", got[fadeSteps].pts[3].y, -0.1)
	for i, want := range []bool{false, false, false, true} {
		if i != 2 && alone(pts, i) != want {
			t.Errorf("point %d alone = %t", i, !want)
		}
	}
	if !openEnds(pts) || openEnds(pts[2:]) {
		t.Error("openEnds is wrong")
	}
}

func TestStrokesDotSaturatedStretches(t *testing.T) {
	pts := []bandPoint{{x: 1, score: 1}, {x: 2, score: 2}, {x: 3, score: 3, saturated: true}, {x: 4, score: 4, saturated: true}, {x: 5, score: 5}}
	got := strokes("a", "blue", 2, []float64{7, 4}, pts)
	if len(got) != 3 {
		t.Fatalf("%d strokes, want 3", len(got))
	}
	diffPoints(t, "plain", got[0].pts, []xy{{1, 1}, {2, 2}})
	diffPoints(t, "saturated", got[1].pts, []xy{{2, 2}, {3, 3}, {4, 4}})
	diffPoints(t, "plain again", got[2].pts, []xy{{4, 4}, {5, 5}})
	if d := cmp.Diff(dotted, got[1].dash); d != "" || got[1].opacity >= 1 {
		t.Errorf("the saturated stretch is not dotted and faint: %v %v", got[1].dash, got[1].opacity)
	}
}
