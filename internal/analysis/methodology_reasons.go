package analysis

import (
	"strings"
	"sync"

	"rebench/data"
	"rebench/internal/rebench"
)

// paperReasons says of single numbers of data/published/paper_numbers.csv, by id, why
// the computed one differs. The file's own notes hold the working.
var paperReasons = map[string]string{
	"P057": "of all ten attempts in the file six score above 0.05",
	"P062": "of the nine attempts in the file eight score above 0.05, which no choice of nine changes; scores cut at 8 h could",
	"P067": "of the sixteen attempts in the file the paper's thirteen seem to be those but the ones of 136.5, 9.7 and 4.0 h, and twelve of these score above 0.05",
	"P096": "the best raw score in the file is 0.89, which is 1.161",
	"P105": "the best raw score in METR's table is 0.13, which is 1.02; 1.33 would be 28 of 165 problems, which no attempt solved",
	"P108": "1.78 is the second best here (raw 0.598837). The best, run 185 (raw 0.337541), took 21:57 h; the paper seems to leave it out, while here a duration never discards a score",
	"P114": "the best raw score in METR's table is 0.97, which is 1.564 with the file's reference of 0.8149 and 1.387 with the README's 0.85; 1.43 would be raw 0.983",
}

func joinReasons(reasons ...string) string {
	var out []string
	for _, r := range reasons {
		if r != "" {
			out = append(out, r)
		}
	}
	return strings.Join(out, "; ")
}

// Ceiling is the authors' estimate of the best reachable score (Table 8 of the paper).
type Ceiling struct {
	// Low and High are on the scale of the published scores: the raw estimates
	// normalized with the constants that the published file was normalized with.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Raw and Printed are the estimates as the paper prints them, raw and normalized.
	Raw     string `json:"raw"`
	Printed string `json:"printed"`
}

// ceilings returns the ceiling of every environment for which the paper prints one as
// a range that has a score.
var ceilings = sync.OnceValues(func() (map[rebench.EnvironmentID]Ceiling, error) {
	rows, err := data.Table("paper_numbers.csv")
	if err != nil {
		return nil, err
	}
	raw, printed := map[string]map[string]string{}, map[string]string{}
	for _, r := range rows {
		switch r["quantity"] {
		case "estimated ceiling (normalized)":
			printed[r["environment"]] = r["value"]
		case "estimated ceiling (raw)":
			raw[r["environment"]] = r
		}
	}
	out := map[rebench.EnvironmentID]Ceiling{}
	for _, id := range rebench.EnvironmentIDs() {
		env, _ := rebench.EnvironmentByID(id)
		r := raw[env.Title]
		low, high := number(r["low"]), number(r["high"])
		if low == nil || high == nil {
			continue
		}
		a, errA := normalizedQuantity(env, *low, env.PublishedReference)
		b, errB := normalizedQuantity(env, *high, env.PublishedReference)
		if errA != nil || errB != nil {
			continue
		}
		out[id] = Ceiling{Low: min(a, b), High: max(a, b), Raw: r["value"], Printed: printed[env.Title]}
	}
	return out, nil
})
