package handler

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rebench/internal/analysis"
	"rebench/internal/rebench"
	"rebench/internal/stats"
	"rebench/internal/validity"
	"rebench/web/view"
)

// request is what a URL asks for.
type request struct {
	query     analysis.Query
	filter    analysis.AttemptFilter
	axis      string // of the curves: time or cost
	scale     string // of the curves: full or clipped
	a, b      string // agents compared
	agent     string // of score@k
	timeLimit time.Duration
	ks        []int
	pageToken string
	state     validity.State // of mechanisms
	show      string         // what else the leaderboard shows: sensitivity
	chart     string         // which picture of a page with several
	canonical url.Values     // parameters that differ from their defaults, in their shortest spelling
}

// param is one parameter that URLs may carry.
type param struct {
	expected string   // in words
	allowed  []string // when the values are a closed set
	list     bool     // several values, separated by commas or given by repeating the parameter
	// read puts one value (for a list: all of them) into the request and returns its
	// shortest spelling. On an error the value is not as expected.
	read func(r *request, values []string) (string, error)
}

// choice is a parameter with a closed set of values.
func choice(set func(r *request, value string), allowed ...string) param {
	return param{
		expected: "one of " + strings.Join(allowed, ", "), allowed: allowed,
		read: func(r *request, v []string) (string, error) {
			if !slices.Contains(allowed, v[0]) {
				return "", errNotAllowed
			}
			set(r, v[0])
			return v[0], nil
		},
	}
}

// maxText bounds free text in a parameter.
const maxText = 200

// text is a parameter with any short value.
func text(expected string, set func(r *request, value string)) param {
	return param{expected: expected, read: func(r *request, v []string) (string, error) {
		if len(v[0]) > maxText {
			return "", fmt.Errorf("it has %d bytes, the limit is %d", len(v[0]), maxText)
		}
		set(r, v[0])
		return v[0], nil
	}}
}

func duration(expected string, set func(r *request, d time.Duration)) param {
	return param{expected: expected, read: func(r *request, v []string) (string, error) {
		d, err := rebench.ParseBudget(v[0])
		if err != nil {
			return "", errMalformed
		}
		set(r, d)
		return rebench.FormatBudget(d), nil
	}}
}

// number matches decimal numbers only: ParseFloat would also take hexadecimal, inf and nan.
var number = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// parameters holds every parameter by name. What a route takes is listed with the route.
var parameters = map[string]param{
	"budget": duration("a total time between 1 s and 10000 h: 30m, 8h, or seconds such as 28800",
		func(r *request, d time.Duration) { r.query.Budget = d }),
	"environments": {expected: "environment ids separated by commas", allowed: environmentNames(), list: true, read: readEnvironments},
	"agents": {expected: "agent names separated by commas", list: true, read: func(r *request, v []string) (string, error) {
		r.query.Agents = v
		return strings.Join(v, ","), nil
	}},
	"estimator": choice(func(r *request, v string) {
		if v == "with" {
			r.query.Estimator = stats.WithReplacement
		}
	}, "without", "with"),
	"convention": choice(func(r *request, v string) {
		if v == "metr" {
			r.query.Convention = stats.Metr
		}
	}, "centred", "metr"),
	"cohort": choice(func(r *request, v string) {
		r.query.Cohort, r.filter.Cohort = rebench.Cohort(v), rebench.Cohort(v)
	}, string(rebench.CohortPaper71), string(rebench.CohortAll)),
	"flagged": choice(func(r *request, v string) { r.query.Flagged = v == "include" }, "exclude", "include"),
	"profile": choice(func(r *request, v string) { r.query.Profile = rebench.Profile(v) }, profileNames()...),
	"scorer":  text("a scorer version", func(r *request, v string) { r.query.Scorer = v }),
	"hardware": text("a hardware class, or all to merge classes",
		func(r *request, v string) { r.query.Hardware = v }),
	"cap": {expected: "a positive number at which scores are cut, such as 1", read: readCap},
	"hours": choice(func(r *request, v string) { r.query.HumanHours7To9 = v == "7-9" },
		"all", "7-9"),
	"truncate": choice(func(r *request, v string) { r.query.Truncate = v == "yes" }, "no", "yes"),
	"asof":     {expected: "the number of a data revision", read: readAsOf},
	"statistic": choice(func(r *request, v string) { r.query.Statistic = analysis.Statistic(v) },
		string(analysis.StatBestOfK), string(analysis.StatMean), string(analysis.StatMedian)),
	"axis":  choice(func(r *request, v string) { r.axis = v }, "time", "cost"),
	"scale": choice(func(r *request, v string) { r.scale = v }, "full", "clipped"),
	"show":  choice(func(r *request, v string) { r.show = v }, "sensitivity"),
	"chart": choice(func(r *request, v string) { r.chart = v }, chartDistribution, chartAtK),
	"a":     text("an agent's name", func(r *request, v string) { r.a = v }),
	"b":     text("an agent's name", func(r *request, v string) { r.b = v }),
	"agent": text("an agent's name", func(r *request, v string) { r.agent, r.filter.Agent = v, v }),
	"environment": choice(func(r *request, v string) { r.filter.Environment = rebench.EnvironmentID(v) },
		environmentNames()...),
	"state": choice(func(r *request, v string) { r.state = validity.State(v) }, texts(validity.States())...),
	"kind": choice(func(r *request, v string) { r.filter.Kind = rebench.Kind(v) },
		string(rebench.KindAgent), string(rebench.KindHuman), string(rebench.KindBaseline), analysis.NotHuman),
	"log": choice(func(r *request, v string) { r.filter.WithLog = v == "yes" }, "yes"),
	"time_limit": duration("a time limit of single attempts: 30m, 8h, or seconds such as 1800",
		func(r *request, d time.Duration) { r.timeLimit, r.filter.TimeLimitS = d, int64(d/time.Second) }),
	"k":          {expected: "whole numbers from 1 to 1000 separated by commas", list: true, read: readKs},
	"sort":       choice(func(r *request, v string) { r.filter.Sort = v }, analysis.AttemptOrders()...),
	"text":       text("part of an attempt's id or of an agent's name", func(r *request, v string) { r.filter.Text = v }),
	"page_token": text("the next_page_token of the page before", func(r *request, v string) { r.pageToken = v }),
}

// flaggedFilter is the parameter flagged where it filters a list instead of
// choosing what counts.
var flaggedFilter = choice(func(r *request, v string) { r.filter.Flagged = v }, "only", "none", "exclude", "include", "suspected")

// profileFilter is the parameter profile where it filters a list: attempts of the test
// profile are in no ranking, but they are listed.
var profileFilter = choice(func(r *request, v string) { r.query.Profile = rebench.Profile(v) }, append(profileNames(), string(rebench.ProfileTest))...)

// parameterFor returns the parameter of that name as a route that takes these reads it.
func parameterFor(name string, takes []string) param {
	if name == "flagged" && slices.Contains(takes, "text") {
		return flaggedFilter
	}
	if name == "profile" && slices.Contains(takes, "text") {
		return profileFilter
	}
	return parameters[name]
}

func environmentNames() []string {
	var out []string
	for _, id := range rebench.EnvironmentIDs() {
		out = append(out, string(id))
	}
	return out
}

func profileNames() []string {
	var out []string
	for _, p := range rebench.Profiles() {
		out = append(out, string(p))
	}
	return out
}

func readEnvironments(r *request, values []string) (string, error) {
	for _, v := range values {
		if _, ok := rebench.EnvironmentByID(rebench.EnvironmentID(v)); !ok {
			return "", valueError{v, errNotAllowed}
		}
	}
	// The suite's order is the canonical one.
	var names []string
	for _, id := range rebench.EnvironmentIDs() {
		if slices.Contains(values, string(id)) {
			names = append(names, string(id))
			r.query.Environments = append(r.query.Environments, id)
		}
	}
	return strings.Join(names, ","), nil
}

func readCap(r *request, v []string) (string, error) {
	if !number.MatchString(v[0]) {
		return "", errMalformed
	}
	limit, err := strconv.ParseFloat(v[0], 64)
	if err != nil || limit <= 0 || math.IsInf(limit, 0) {
		return "", errMalformed
	}
	r.query.Cap = &limit
	return strconv.FormatFloat(limit, 'f', -1, 64), nil
}

func readAsOf(r *request, v []string) (string, error) {
	id, err := strconv.ParseUint(v[0], 10, 53)
	if err != nil || id == 0 {
		return "", errMalformed
	}
	r.query.AsOf = int64(id)
	return strconv.FormatUint(id, 10), nil
}

const (
	maxK  = 1000
	maxKs = 50
)

func readKs(r *request, values []string) (string, error) {
	if len(values) > maxKs {
		return "", fmt.Errorf("these are %d, the limit is %d", len(values), maxKs)
	}
	for _, v := range values {
		k, err := strconv.ParseUint(v, 10, 16)
		if err != nil || k < 1 || k > maxK {
			return "", valueError{v, errMalformed}
		}
		r.ks = append(r.ks, int(k))
	}
	slices.Sort(r.ks)
	r.ks = slices.Compact(r.ks)
	words := make([]string, len(r.ks))
	for i, k := range r.ks {
		words[i] = strconv.Itoa(k)
	}
	return strings.Join(words, ","), nil
}

// parse reads the query string of a page against the parameters it takes. An empty
// value is the default. Every fault is reported, not only the first.
func parse(path string, raw string, takes []string) (*request, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, &ParamError{Faults: []ParamFault{{Code: "malformed", Found: raw, Expected: "name=value pairs, percent-encoded, joined with &"}}}
	}
	r := &request{canonical: url.Values{}, axis: "time", scale: "full"}
	var faults []ParamFault
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		spelled, fault := r.read(path, name, values[name], takes)
		if fault != nil {
			faults = append(faults, *fault)
		} else if spelled != "" {
			r.canonical.Set(name, spelled)
		}
	}
	if len(faults) > 0 {
		return nil, &ParamError{Faults: faults}
	}
	r.canonical = view.Canonical(path, r.canonical)
	return r, nil
}

// read reads one parameter; its shortest spelling is "" when it has no value.
func (r *request) read(path, name string, values, takes []string) (string, *ParamFault) {
	if !slices.Contains(takes, name) {
		return "", &ParamFault{Parameter: name, Code: "unknown_parameter", Found: name, Expected: "a parameter of " + path,
			Allowed: takes, Hint: didYouMean(near(name, takes))}
	}
	p := parameterFor(name, takes)
	var given []string
	for _, v := range values {
		if !p.list {
			if v != "" {
				given = append(given, v)
			}
			continue
		}
		for _, part := range strings.Split(v, ",") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(given, part) {
				given = append(given, part)
			}
		}
	}
	if len(given) == 0 {
		return "", nil
	}
	if len(given) > 1 && !p.list {
		return "", &ParamFault{Parameter: name, Code: "repeated", Found: strings.Join(given, " and "), Expected: "one value"}
	}
	spelled, err := p.read(r, given)
	if err != nil {
		return "", newFault(name, p, given, err)
	}
	return spelled, nil
}
