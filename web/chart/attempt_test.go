package chart

import (
	"strings"
	"testing"
	"time"

	"rebench/internal/rebench"
)

func stepLine(t *testing.T, f *Figure) []xy {
	t.Helper()
	for _, l := range f.panels[0].lines {
		if l.steps {
			return l.pts
		}
	}
	t.Fatal("no step curve")
	return nil
}

func TestAttemptStepsByHand(t *testing.T) {
	f := Attempt(sampleAttempt(), "o1-preview", []Pause{{AtS: 1800, Length: 90 * time.Second}}, Source{})
	diffPoints(t, "best so far", stepLine(t, f), []xy{{0, 0}, {600, 0.2}, {2400, 0.2}, {4800, 0.65}, {6000, 0.65}})
	p := f.panels[0]
	if p.spans[0].from != 1800 || p.spans[0].label != "paused 1 min 30 s" {
		t.Errorf("pause = %+v", p.spans[0])
	}
	for _, s := range Attempt(sampleAttempt(), "o1-preview", []Pause{{AtS: 1800}, {AtS: 1900}}, Source{}).panels[0].spans {
		if s.label != "" {
			t.Errorf("a pause just beside another is named %q", s.label)
		}
	}
	var crosses int
	for _, m := range p.marks {
		if m.marker == MarkerCross {
			crosses++
			if m.x != 1200 || m.y >= 0 || m.y < p.y.min || m.tip.rows[1] != [2]string{"Invalid", "wrong output"} || m.key != "t=1200" {
				t.Errorf("invalid entry = %+v %v", m, m.tip)
			}
		}
	}
	if crosses != 1 || len(p.marks) != 5 {
		t.Errorf("%d invalid of %d marks, want 1 of 5 (3 valid, 1 re-scored)", crosses, len(p.marks))
	}
	labels := ""
	for _, r := range p.refs {
		labels += r.label + "|"
	}
	if !strings.Contains(labels, "time limit") || !strings.Contains(labels, "end: submitted") {
		t.Errorf("lines = %q", labels)
	}
}

func TestAttemptOfHiddenScoresTakesTheLast(t *testing.T) {
	a := sampleAttempt()
	a.Environment = rebench.ScalingLaw
	f := Attempt(a, "x", nil, Source{})
	diffPoints(t, "last so far", stepLine(t, f), []xy{{0, 0}, {600, 0.2}, {2400, 0.1}, {4800, 0.65}, {6000, 0.65}})
}

func TestAttemptEntryAfterTheLimitDoesNotCount(t *testing.T) {
	a := sampleAttempt()
	a.TimeLimit = time.Hour
	f := Attempt(a, "x", nil, Source{})
	diffPoints(t, "until the limit", stepLine(t, f), []xy{{0, 0}, {600, 0.2}, {2400, 0.2}, {3600, 0.2}})
	for _, m := range f.panels[0].marks {
		if m.x == 4800 && m.marker != MarkerDiamond && !m.hollow {
			t.Error("the late entry looks like one that counts")
		}
	}
}

func TestAttemptWithOneUntimedEntryAndWithNone(t *testing.T) {
	a := &rebench.Attempt{AttemptSummary: rebench.AttemptSummary{Environment: rebench.GPT2QA, TimeLimit: 8 * time.Hour},
		Entries: []rebench.ScoreEntry{{Seq: 1, Normalized: ptr(0.4), Valid: true}}}
	f := Attempt(a, "human", nil, Source{})
	p := f.panels[0]
	if len(p.lines) != 1 || p.lines[0].dash == nil || !p.marks[0].hollow || p.marks[0].x != 28800 || !strings.Contains(f.HowToRead, "Only the final score") {
		t.Errorf("untimed entry: %+v, %+v, %q", p.lines, p.marks, f.HowToRead)
	}
	a.Entries = nil
	if f := Attempt(a, "human", nil, Source{}); f.Empty == "" {
		t.Error("an attempt without entries does not say so")
	}
}

// One entry on a broken clock must not stretch the axis from 2 h to 15,360 h.
func TestAttemptAxisEndsNearTheLimit(t *testing.T) {
	a := sampleAttempt()
	a.TimeLimit = 2 * time.Hour
	late, wild := 9000*time.Second, 15360*time.Hour
	score := 0.9
	a.Entries = append(a.Entries, rebench.ScoreEntry{Seq: 90, Elapsed: &late, Normalized: &score, Valid: true}, rebench.ScoreEntry{Seq: 91, Elapsed: &wild, Normalized: &score, Valid: true})
	f := Attempt(a, "o1-preview", nil, Source{})
	if x := f.panels[0].x.max; x < 9000 || x > 1.25*7200*1.05 {
		t.Errorf("the axis ends at %v s", x)
	}
	for _, m := range f.panels[0].marks {
		if m.x > f.panels[0].x.max {
			t.Errorf("a mark at %v s", m.x)
		}
	}
	if notes := strings.Join(f.Notes, " "); !strings.Contains(notes, "1 entry lies beyond the axis, which ends at 1.25 times the time limit; the last is at 15360 h") {
		t.Errorf("notes = %q", notes)
	}
}
