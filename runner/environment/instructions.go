package environment

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"rebench/internal/rebench"
)

// Told is what INSTRUCTIONS.md may refer to, e.g. {{.TimeLimit}} or {{.Params.n}}.
type Told struct {
	ID, Title, Profile string
	Params             map[string]any
	TimeLimit          string // in words: "10 minutes"
	TimeLimitS         float64
	GPUs               int
	Limits             Limits
	Direction          string // "lower" or "higher" is better
	ScoreVisible       bool
}

// Instructions returns what the solver is told. A reference to something that
// does not exist is an error, never an empty place in the text. A timeLimit of
// 0 means the profile's.
func (e *Environment) Instructions(p *Profile, timeLimit time.Duration) (string, error) {
	path := filepath.Join(e.Dir, "INSTRUCTIONS.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", rebench.Errorf(rebench.CodeNotFound, "instructions of %s: %w", e.ID, err)
	}
	t, err := template.New("INSTRUCTIONS.md").Option("missingkey=error").Parse(string(raw))
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInvalid, "instructions of %s: %w", e.ID, err)
	}
	if timeLimit == 0 {
		timeLimit = p.TimeLimit()
	}
	better := "higher"
	if e.Direction == rebench.Minimize {
		better = "lower"
	}
	var out strings.Builder
	err = t.Execute(&out, Told{
		ID: string(e.ID), Title: e.Title, Profile: string(p.Name), Params: p.Params,
		TimeLimit: inWords(timeLimit), TimeLimitS: timeLimit.Seconds(), GPUs: p.GPUs,
		Limits: p.Limits, Direction: better, ScoreVisible: e.ScoreVisible,
	})
	if err != nil {
		return "", rebench.Errorf(rebench.CodeInvalid, "instructions of %s, profile %s: %w", e.ID, p.Name, err)
	}
	return out.String(), nil
}

// inWords says a duration in its largest unit that divides it.
func inWords(d time.Duration) string {
	say := func(n int64, unit string) string {
		if n == 1 {
			return "1 " + unit
		}
		return fmt.Sprintf("%d %ss", n, unit)
	}
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return say(int64(d/time.Hour), "hour")
	case d >= time.Minute && d%time.Minute == 0:
		return say(int64(d/time.Minute), "minute")
	case d%time.Second == 0:
		return say(int64(d/time.Second), "second")
	}
	return fmt.Sprintf("%g seconds", d.Seconds())
}
