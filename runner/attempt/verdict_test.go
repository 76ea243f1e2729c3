package attempt

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/runner/sandbox"
	"rebench/runner/scoring"
)

// Hidden scores: the solver is told nothing, the log everything; the last valid
// entry counts, and the submission at the end is scored once.
func TestHiddenScoresAndLastSelection(t *testing.T) {
	var b *bench
	var told []Answer
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		b.time.Advance(time.Second)
		told = append(told, s.score())
		a, _ := s.ask("log")
		told = append(told, a)
		s.write("later")
		b.time.Advance(time.Second)
		return exit(0)
	})
	b.cfg.Environment.Selection, b.cfg.Environment.ScoreVisible = rebench.SelectLast, false
	b.scorer.Func = func(_ context.Context, n int, req scoring.Request) (scoring.Outcome, error) {
		return validOutcome([]float64{7, 8, 8.5}[n], req), nil
	}
	l := b.mustRun()
	l.noWarnings(t)
	for _, a := range told {
		for _, e := range append(a.Entries, Entry{}) {
			if a.Entry != nil && a.Entry.Score != nil || e.Score != nil {
				t.Errorf("the solver was told %+v", a)
			}
		}
	}
	if len(l.scores) != 2 || *l.scores[0].Score != 7 || *l.scores[1].Score != 8 || *l.scores[1].T != 2 {
		t.Fatalf("scores %+v", l.scores)
	}
	if len(l.rescores) != 1 || l.rescores[0].OfSeq != l.seqs[1] || *l.rescores[0].Score != 8.5 {
		t.Errorf("rescores %+v", l.rescores)
	}
	if l.scores[0].SubmissionSHA256 == l.scores[1].SubmissionSHA256 {
		t.Error("two solutions with one hash")
	}
}

func TestScoresAreRoundedToTheNoise(t *testing.T) {
	var a Answer
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result { a = s.score(); return exit(0) })
	b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		return validOutcome(7.123456, req), nil // the calibration's noise is 0.1
	}
	l := b.mustRun()
	if a.Entry == nil || *a.Entry.Score != 7.1 || *l.scores[0].Score != 7.123456 {
		t.Errorf("told %+v, logged %v", a.Entry, *l.scores[0].Score)
	}
	if a.Entry.Message != "" || string(l.scores[0].Message) != `"fine"` {
		t.Errorf("the scorer's message undoes the rounding: told %q, logged %q", a.Entry.Message, l.scores[0].Message)
	}
}

// A fault of the scorer is no verdict on the submission.
func TestScorerFaults(t *testing.T) {
	t.Run("passing", func(t *testing.T) {
		b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
			if a := s.score(); !a.OK {
				t.Errorf("answer %+v", a)
			}
			return exit(0)
		})
		b.scorer.Func = func(_ context.Context, n int, req scoring.Request) (scoring.Outcome, error) {
			if n == 0 {
				return scoring.Outcome{}, &scoring.Fault{Stage: "exit", Detail: "status 1"}
			}
			return validOutcome(8, req), nil
		}
		l := b.mustRun()
		if len(l.scores) != 1 || !l.scores[0].Valid {
			t.Errorf("scores %+v", l.scores)
		}
		reqs := b.scorer.requests()
		if reqs[0].Index == reqs[1].Index {
			t.Error("a scoring index was used twice")
		}
	})
	t.Run("lasting", func(t *testing.T) {
		b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
			if a := s.score(); a.OK || a.Error != ErrRunner {
				t.Errorf("answer %+v", a)
			}
			return exit(0)
		})
		b.scorer.Func = func(context.Context, int, scoring.Request) (scoring.Outcome, error) {
			return scoring.Outcome{}, &scoring.Fault{Stage: "exit", Detail: "status 1"}
		}
		l := b.mustRun()
		if len(l.scores) != 0 || l.end.Reason != attemptlog.EndSubmitted {
			t.Errorf("scores %d, end %v", len(l.scores), l.end.Reason)
		}
		if l.kinds[1] != "scorer_fault" {
			t.Errorf("kinds %v", l.kinds)
		}
	})
	t.Run("of a machine that is quiet later", func(t *testing.T) {
		b := newBench(t, func(_ context.Context, s *solver) sandbox.Result { s.score(); return exit(0) })
		var begin, end time.Duration
		tries, stop := 0, make(chan struct{})
		defer close(stop)
		b.scorer.Func = func(_ context.Context, n int, req scoring.Request) (scoring.Outcome, error) {
			if req.Purpose != scoring.PurposeRescore {
				return validOutcome(8, req), nil
			}
			if tries++; tries == 1 {
				begin = b.time.Now()
			}
			if tries == scorerTries {
				go func() { // time passes
					for ; ; b.time.Advance(10 * time.Second) {
						select {
						case <-stop:
							return
						case <-time.After(time.Millisecond):
						}
					}
				}()
			}
			if tries <= scorerTries {
				return scoring.Outcome{}, &scoring.Fault{Stage: "exit", Detail: "status 1"}
			}
			end = b.time.Now()
			return validOutcome(8, req), nil
		}
		l := b.mustRun()
		if len(l.rescores) != 1 || l.rescores[0].Score == nil || tries != scorerTries+1 || end-begin < rescoreWaits[0] {
			t.Errorf("rescores %+v after %d tries in %s", l.rescores, tries, end-begin)
		}
	})
	t.Run("when scored again", func(t *testing.T) {
		b := newBench(t, func(_ context.Context, s *solver) sandbox.Result { s.score(); return exit(0) })
		b.scorer.Func = func(_ context.Context, n int, req scoring.Request) (scoring.Outcome, error) {
			if req.Purpose == scoring.PurposeRescore {
				return scoring.Outcome{}, errors.New("broken")
			}
			return validOutcome(8, req), nil
		}
		l := b.mustRun()
		if len(l.rescores) != 1 || l.rescores[0].Score != nil || l.rescores[0].Reason != "error" {
			t.Errorf("rescores %+v", l.rescores)
		}
	})
}

func TestInvalidSubmissions(t *testing.T) {
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		if err := os.Symlink("/etc/passwd", filepath.Join(s.workspace, "link")); err != nil {
			t.Error(err)
		}
		if a := s.score(); !a.OK || a.Entry.Valid || a.Entry.Reason != "rule_broken" || !strings.Contains(a.Entry.Message, "link") {
			t.Errorf("answer %+v", a)
		}
		os.Remove(filepath.Join(s.workspace, "link"))
		if a := s.score(); !a.OK || a.Entry.Valid || a.Entry.Reason != "wrong_output" {
			t.Errorf("answer %+v", a)
		}
		return exit(0)
	})
	b.scorer.Func = func(context.Context, int, scoring.Request) (scoring.Outcome, error) {
		return invalidOutcome(scoring.ReasonWrongOutput, "element 3 differs"), nil
	}
	l := b.mustRun()
	l.noWarnings(t)
	if len(l.scores) != 2 || l.scores[0].Valid || l.scores[0].Reason != attemptlog.ReasonRuleBroken || l.scores[1].Reason != attemptlog.ReasonWrongOutput {
		t.Errorf("scores %+v", l.scores)
	}
	if len(b.scorer.requests()) != 1 || len(l.rescores) != 0 {
		t.Error("a refused snapshot was scored, or an invalid entry scored again")
	}
}

// A scorer that talks too much must not make a line too long for the log.
func TestLongMessages(t *testing.T) {
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		if a := s.score(); len(a.Entry.Message) > maxMessageBytes+3 {
			t.Errorf("message of %d bytes", len(a.Entry.Message))
		}
		if a, err := s.ask("log"); err != nil || len(a.Entries) != 1 || len(a.Entries[0].Message) > maxListedMessage+3 {
			t.Errorf("%v, %d entries", err, len(a.Entries))
		}
		return exit(0)
	})
	b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		out := validOutcome(8, req)
		out.Verdict.Message = strings.Repeat("\u00e9\x00", 2<<20)
		out.Verdict.Details = json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`)
		return out, nil
	}
	l := b.mustRun()
	if len(l.scores) != 1 || string(l.scores[0].Extra.Get("details_omitted_bytes")) != "2097154" {
		t.Errorf("%+v", l.scores[0].Extra)
	}
}

func TestTooManyScorings(t *testing.T) {
	b := newBench(t, func(_ context.Context, s *solver) sandbox.Result {
		for i := range 5 {
			a := s.score()
			if a.OK != (i < 3) || !a.OK && a.Error != ErrTooMany {
				t.Errorf("scoring %d: %+v", i, a)
			}
		}
		return exit(0)
	})
	b.cfg.MaxScorings = 3
	if l := b.mustRun(); len(l.scores) != 3 {
		t.Errorf("%d entries", len(l.scores))
	}
}

func TestOneScoringAtATime(t *testing.T) {
	var s2 Answer
	var b *bench
	b = newBench(t, func(_ context.Context, s *solver) sandbox.Result { s.score(); return exit(0) })
	b.scorer.Func = func(_ context.Context, _ int, req scoring.Request) (scoring.Outcome, error) {
		if req.Purpose == scoring.PurposeScore {
			s2, _ = askRaw(filepath.Join(b.cfg.Dir.Path, socketName), "{\"op\":\"score\"}\n")
		}
		return validOutcome(8, req), nil
	}
	if l := b.mustRun(); len(l.scores) != 1 || s2.OK || s2.Error != ErrBusy {
		t.Errorf("%d scores, second request %+v", len(l.scores), s2)
	}
}
