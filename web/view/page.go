package view

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"rebench/internal/rebench"
)

// Page is what every page knows about itself.
type Page struct {
	// Title names the page in the browser's title bar and in citations.
	Title string
	// Description is one sentence for link previews.
	Description string
	// Path is the page's path without suffix as it stands in its address, such as
	// /curves, or AttemptPath(id).
	Path string
	// Query holds the parameters of the URL that differ from their defaults.
	Query url.Values
	// Base is the server's address as the reader sees it, such as
	// http://127.0.0.1:8080, without a slash at the end; "" where unknown.
	Base     string
	Version  string               // of the program
	Revision rebench.DataRevision // of the data shown
	// Suffixes are the other forms of this view: json, csv, svg.
	Suffixes []string
	// Assets adds a version to the addresses of static files, so that they can be
	// cached for ever; "" adds none.
	Assets string
}

// Parameters that mean the same on every page, with the value that a missing one has.
var defaults = map[string]string{
	"budget": "8h", "estimator": "without", "convention": "centred", "cohort": "paper71",
	"flagged": "exclude", "profile": "paper", "statistic": "best_of_k", "axis": "time", "scale": "full", "hours": "all", "truncate": "no",
}

// attemptDefaults are those of the list of attempts, which by default restricts nothing.
var attemptDefaults = map[string]string{"profile": "paper"}

// Default returns the value that a parameter has when the URL of path leaves it out.
func Default(path, key string) string {
	if path == "/attempts" {
		return attemptDefaults[key]
	}
	return defaults[key]
}

// lists are the parameters that hold several values, separated by commas.
var lists = []string{"environments", "agents"}

// Canonical returns q as page addresses write it: defaults and empty values left
// out, repeated list parameters (as a form sends them) joined with commas. A value
// of an unknown parameter stays, so that its mistake can be reported.
func Canonical(path string, q url.Values) url.Values {
	out := url.Values{}
	for key, values := range q {
		value := ""
		if slices.Contains(lists, key) {
			var parts []string
			for _, v := range values {
				if v != "" {
					parts = append(parts, v)
				}
			}
			value = strings.Join(parts, ",")
			if key == "environments" && isAllEnvironments(value) {
				value = ""
			}
		} else if len(values) > 0 {
			value = values[len(values)-1]
		}
		if value != "" && value != Default(path, key) {
			out.Set(key, value)
		}
	}
	return out
}

func isAllEnvironments(list string) bool {
	parts := strings.Split(list, ",")
	for _, id := range rebench.EnvironmentIDs() {
		if !slices.Contains(parts, string(id)) {
			return false
		}
	}
	return len(parts) == len(rebench.EnvironmentIDs())
}

// Value returns a parameter's value, its default where the URL leaves it out.
func (p Page) Value(key string) string {
	if v := p.Query.Get(key); v != "" {
		return v
	}
	return Default(p.Path, key)
}

// With returns the address of this page with parameters changed, given as key and
// value in turn. Defaults and empty values are left out, and so is the place in a
// list that the old parameters led to.
func (p Page) With(pairs ...string) string {
	q := maps.Clone(p.Query)
	if q == nil {
		q = url.Values{}
	}
	q.Del("page_token")
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return address(p.Path, q)
}

// To returns the address of another page that keeps this page's choice of data
// (budget, environments, cohort, estimator and the like), with parameters changed.
func (p Page) To(path string, pairs ...string) string {
	q := url.Values{}
	for _, key := range []string{"environments", "cohort", "estimator", "convention", "flagged", "profile", "scorer", "hardware", "cap", "hours", "truncate", "asof"} {
		if v := p.Query.Get(key); v != "" && p.Path != "/attempts" {
			q.Set(key, v)
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return address(path, q)
}

// address writes path and query in their canonical form.
func address(path string, q url.Values) string {
	if query := encode(Canonical(path, q)); query != "" {
		return path + "?" + query
	}
	return path
}

// AttemptPath returns the path of an attempt's page. The id is one path segment,
// whatever it contains.
func AttemptPath(id string) string { return "/attempts/" + url.PathEscape(id) }

// encode is url.Values.Encode with commas left readable.
func encode(q url.Values) string { return strings.ReplaceAll(q.Encode(), "%2C", ",") }

// Self returns the page's own address.
func (p Page) Self() string { return address(p.Path, p.Query) }

// As returns the address of this view in another form: json, csv or svg.
func (p Page) As(suffix string) string {
	path := p.Path
	if path == "/" {
		path = "/leaderboard"
	}
	if query := encode(Canonical(p.Path, p.Query)); query != "" {
		return path + "." + suffix + "?" + query
	}
	return path + "." + suffix
}

// has reports whether the view exists in the form.
func (p Page) has(suffix string) bool { return slices.Contains(p.Suffixes, suffix) }

// asset returns the address of a static file.
func (p Page) asset(name string) string {
	if p.Assets == "" {
		return "/static/" + name
	}
	return "/static/" + name + "?v=" + url.QueryEscape(p.Assets)
}

// navItem is one entry of the page head.
type navItem struct{ path, label string }

var navigation = []navItem{
	{"/", "Leaderboard"}, {"/curves", "Curves"}, {"/compare", "Compare"}, {"/environments", "Environments"},
	{"/humans", "Humans"}, {"/attempts", "Attempts"}, {"/runs", "Runs"}, {"/upload", "Upload"}, {"/methodology", "Method"},
}

// current reports whether the page belongs under the entry.
func (n navItem) current(p Page) bool {
	if n.path == "/" {
		return p.Path == "/"
	}
	return p.Path == n.path || strings.HasPrefix(p.Path, n.path+"/")
}

// link returns where the entry leads, keeping the reader's choice of data.
func (n navItem) link(p Page) string {
	switch n.path {
	case "/", "/compare":
		if b := p.Query.Get("budget"); b != "" {
			return p.To(n.path, "budget", b)
		}
		return p.To(n.path)
	case "/curves", "/environments", "/humans":
		return p.To(n.path)
	default:
		return n.path
	}
}
