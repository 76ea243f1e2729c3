package view

import (
	"fmt"
	"strings"
	"time"
)

// Citation is how to cite a view.
type Citation struct{ Text, BibTeX string }

// Cite returns the citation of the page as it stands. Its address is pinned to the
// data revision, so that it leads to the same numbers later.
func (p Page) Cite() Citation {
	address := p.Base + p.pinned()
	at := p.Revision.At
	year := "n.d."
	if !at.IsZero() {
		year = fmt.Sprint(at.Year())
	}
	version := p.Version
	if version == "" {
		version = "development version"
	}
	text := fmt.Sprintf("rebench (%s). %s. rebench %s, data revision %d%s. %s. RE-Bench: Wijk et al. (2024), arXiv:2411.15114.",
		year, p.Title, version, p.Revision.ID, dated(at), address)
	bib := fmt.Sprintf(`@misc{rebench-r%d,
  title        = {{%s}},
  author       = {{rebench}},
  year         = {%s},
  note         = {rebench %s, data revision %d%s; RE-Bench: arXiv:2411.15114},
  howpublished = {\url{%s}}
}`, p.Revision.ID, bibText(p.Title), year, bibText(version), p.Revision.ID, dated(at), bibURL(address))
	return Citation{Text: text, BibTeX: bib}
}

// pinned returns the page's address with its data revision.
func (p Page) pinned() string {
	if p.Revision.ID == 0 {
		return p.Self()
	}
	return p.With("asof", fmt.Sprint(p.Revision.ID))
}

func dated(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " of " + at.UTC().Format("2 January 2006")
}

var bibEscaper = strings.NewReplacer(`\`, `\textbackslash `, `{`, `\{`, `}`, `\}`, `%`, `\%`, `&`, `\&`,
	`#`, `\#`, `$`, `\$`, `_`, `\_`, `~`, `\textasciitilde `, `^`, `\textasciicircum `, "\n", " ")

// bibText makes any text safe inside a BibTeX field.
func bibText(s string) string { return bibEscaper.Replace(s) }

// bibURL makes an address safe inside \url.
func bibURL(s string) string {
	return strings.NewReplacer(`\`, "%5C", `{`, "%7B", `}`, "%7D", " ", "%20", "\n", "").Replace(s)
}
