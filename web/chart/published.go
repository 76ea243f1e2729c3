package chart

import (
	"fmt"
	"slices"
	"strings"

	"rebench/internal/rebench"
)

// published draws the paper's own points as hollow marks.
func (b *curvesBuilder) published() {
	for i, m := range b.marks {
		x, _ := b.x(m.TotalTimeS, m.CostUSD)
		st := publishedStyle(m.Series)
		t := &tip{title: plain(m.Series) + " (the paper's own)", rows: [][2]string{
			{"Score", Score(m.Score)}, {"Total time", duration(m.TotalTimeS)}, {"Allocation", plain(m.Allocation)},
		}}
		if known(m.CILow) != nil || known(m.CIHigh) != nil {
			t.rows = append(t.rows, [2]string{"95% interval", Interval(m.Score, m.CILow, m.CIHigh)})
		}
		if c := known(m.CostUSD); c != nil {
			t.rows = append(t.rows, [2]string{"Cost", dollars(*c)})
		}
		t.rows = append(t.rows, [2]string{"Source", "digitised, " + plain(m.Figure)})
		if m.Note != "" {
			t.rows = append(t.rows, [2]string{"Note", plain(m.Note)})
		}
		group, _, _ := strings.Cut(m.Series, " / ")
		if m.Kind == rebench.KindHuman {
			group = rebench.HumanName
		}
		b.f.add(b.p, mark{group: group, token: st.Token, marker: st.Marker, size: 10, hollow: true, x: x, y: m.Score,
			low: m.CILow, high: m.CIHigh, whisker: true, tip: t, key: fmt.Sprintf("published %d", i)})
		if !slices.ContainsFunc(b.agents, func(k keyEntry) bool { return k.group == group }) {
			b.agents = append(b.agents, keyEntry{group: group, text: shownName(group), token: st.Token, line: true})
		}
	}
}

// signs explains what is not an agent's own line or mark.
func (b *curvesBuilder) signs() []keyEntry {
	var out []keyEntry
	scaffolds := map[string]bool{}
	for _, m := range b.marks {
		_, scaffold, _ := strings.Cut(m.Series, " / ")
		if scaffolds[scaffold] {
			continue
		}
		scaffolds[scaffold] = true
		if scaffold == "" {
			scaffold = "humans"
		}
		text := "paper, digitised: " + plain(scaffold)
		out = append(out, keyEntry{text: text, token: TokenMuted, marker: publishedStyle(m.Series).Marker, hollow: true})
	}
	if b.saturated {
		out = append(out, keyEntry{text: "saturated: k ≥ n", token: TokenMuted, line: true, dash: dotted, marker: MarkerCircle, hollow: true, faded: true})
	}
	if b.open {
		out = append(out, keyEntry{text: "end of the interval unknown", token: TokenMuted, area: true, faded: true})
	}
	if b.truncated {
		b.f.Notes = append(b.f.Notes, "Truncated points read longer attempts at a shorter time; an agent told \"8 h\" behaves unlike one told \"30 min\".")
	}
	return out
}

// alt describes the chart in words: every agent's last unsaturated point.
func (b *curvesBuilder) alt() string {
	if b.f.Empty != "" {
		return b.f.Empty
	}
	var parts []string
	for _, s := range slices.Backward(b.series) {
		if s.minor {
			continue
		}
		p := s.points[0]
		for _, q := range s.points {
			if !q.Saturated {
				p = q
			}
		}
		at := duration(p.TotalTimeS)
		if b.o.Axis == AxisCost {
			at = dollars(*p.CostUSD)
		}
		parts = append(parts, fmt.Sprintf("%s %s at %s", shownName(s.Agent), Score(p.Score), at))
	}
	if len(b.marks) > 0 {
		parts = append(parts, rebench.Count(len(b.marks), "digitised point")+" of the paper")
	}
	return "Line chart. " + b.f.Title + ". " + strings.Join(parts, "; ") + "."
}
