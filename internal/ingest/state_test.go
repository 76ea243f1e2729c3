package ingest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rebench/internal/rebench"
)

// statedLogs are ownLogs with what is said of each beside its log: of the first
// nothing, of the others flags with hostile text.
func statedLogs(t testing.TB) (logs [][]byte, said []*State) {
	t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	logs = ownLogs(t)
	for i := range logs {
		s := &State{AttemptID: fmt.Sprint("run-", i)}
		if i > 0 {
			hostile := []string{"=cmd()", "'x", "a,\"b\"\r\nc", "<b>"}[i%4]
			s.Unranked = hostile
			s.Flags = []StatedFlag{{rebench.FlagSuspected, true, hostile, "because " + hostile, at}, {rebench.FlagSuspected, false, "b", "no", at.Add(time.Hour)}, {rebench.FlagRetracted, true, "c", hostile, at}}
		}
		said = append(said, s)
	}
	return logs, said
}

func exportStated(t testing.TB) (jsonl, table []byte, said []*State) {
	t.Helper()
	logs, said := statedLogs(t)
	all := func(yield func(Exported, error) bool) {
		for i := range logs {
			if !yield(Exported{bytes.NewReader(logs[i]), said[i]}, nil) {
				return
			}
		}
	}
	var a, b bytes.Buffer
	if err := WriteJSONL(&a, all); err != nil {
		t.Fatal(err)
	}
	if err := WriteCSV(&b, all); err != nil {
		t.Fatal(err)
	}
	return a.Bytes(), b.Bytes(), said
}

// What is said of attempts comes back with them, and their logs keep their bytes.
func TestStatesComeBack(t *testing.T) {
	jsonl, table, said := exportStated(t)
	logs := ownLogs(t)
	for name, export := range map[string][]byte{"jsonl": jsonl, "csv": table, "zip": zipOf(t, member{"x.jsonl", jsonl, 8})} {
		t.Run(name, func(t *testing.T) {
			g := decode(t, "export", export, Options{})
			if len(g.file.Faults()) > 0 || len(g.attempts) != len(logs) {
				t.Fatalf("%d attempts, faults %v", len(g.attempts), g.file.Faults())
			}
			for i, a := range g.attempts {
				want := said[i]
				if want.empty() {
					want = nil
				}
				if d := cmp.Diff(want, a.State); d != "" || !bytes.Equal(a.log, logs[i]) {
					t.Errorf("attempt %d: %s", i, d)
				}
			}
			excluding := g.attempts[1].State.Excluding()
			if len(excluding) != 1 || excluding[0].Kind != rebench.FlagRetracted {
				t.Errorf("excluding: %+v", excluding)
			}
		})
	}
	t.Run("changed cells", func(t *testing.T) {
		changed := strings.Replace(string(table), stateType+",,run-1", stateType+",,run-0", 1)
		if changed == string(table) {
			t.Fatal("the case changes nothing")
		}
		if codes := decode(t, "x", []byte(changed), Options{}).file.Faults(); len(codes) == 0 || codes[0].Code != CodeChangedCells {
			t.Errorf("faults %v", codes)
		}
	})
	t.Run("no text of a state is a formula", func(t *testing.T) {
		for _, l := range strings.Split(string(table), "\n") {
			if strings.HasPrefix(l, stateType) && strings.Contains(l, `,=`) {
				t.Errorf("%q", l)
			}
		}
	})
}
