package handler

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"rebench/internal/ingest"
	"rebench/internal/rebench"
	"rebench/web/view"
)

// mappingOf reads the preview's mapping form: what holds for all files, and, under
// names with a file's number, what holds for that file.
func mappingOf(c *gin.Context) (ingest.Mapping, error) {
	m, err := mappingFields(c, "")
	if err != nil {
		return m, err
	}
	for i := range view.MaxMappedFiles {
		prefix := fmt.Sprintf("file%d.", i)
		name := c.PostForm(prefix + "name")
		if name == "" {
			break
		}
		f, err := mappingFields(c, prefix)
		if err != nil {
			return m, rebench.Errorf(rebench.CodeInvalid, "%s: %w", shorten(name), err)
		}
		if m.Files == nil {
			m.Files = map[string]ingest.Mapping{}
		}
		m.Files[name] = f
	}
	return ingest.CheckMapping(m)
}

func mappingFields(c *gin.Context, prefix string) (ingest.Mapping, error) {
	value := func(name string) string { return strings.TrimSpace(c.PostForm(prefix + name)) }
	m := ingest.Mapping{AttemptID: value("attempt_id"), Environment: value("environment"), Profile: value("profile"),
		StartedAt: value("started_at"), Zone: value("zone"), ScoreKey: value("score_key"), Task: value("task"), Dataset: value("dataset")}
	if n := strings.Count(m.StartedAt, ":"); n == 1 { // browsers leave out seconds of 0
		m.StartedAt += ":00"
	}
	if name := value("agent"); name != "" {
		m.Agent = &ingest.MappingAgent{Name: name, Model: value("model"), Scaffold: value("scaffold")}
	}
	if cohort := value("cohort"); cohort != "" {
		m.Human = &ingest.MappingHuman{Cohort: cohort}
	}
	limit, err := decimal("time limit", value("time_limit_min"))
	if err != nil {
		return m, err
	}
	if limit != nil {
		seconds := math.Round(*limit*60*1000) / 1000
		m.TimeLimitS = &seconds
	}
	start, err := decimal("starting score", value("start_raw"))
	if err != nil {
		return m, err
	}
	reference, err := decimal("reference score", value("reference_raw"))
	if err != nil {
		return m, err
	}
	if start != nil || reference != nil {
		m.Scoring = &ingest.MappingScoring{StartRaw: start, ReferenceRaw: reference}
	}
	return m, nil
}

// decimal reads a number of a form, nil when it was left empty.
func decimal(name, text string) (*float64, error) {
	if text == "" {
		return nil, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(text, "xX_") {
		return nil, rebench.Errorf(rebench.CodeInvalid, "%s: found %q, expected a number", name, shorten(text))
	}
	return &x, nil
}
