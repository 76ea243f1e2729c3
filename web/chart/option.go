package chart

import (
	"encoding/json"
	"slices"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"

	"rebench/internal/rebench"
)

// The types of this file are go-echarts' with what they lack:
// custom tick values, dash patterns, item styles of single points, and the names
// of renderers and formatters that charts.js knows. A colour is the name of a CSS
// custom property; functions never cross as text.

type option struct {
	Animation bool         `json:"animation"`
	Grid      []grid       `json:"grid"`
	XAxis     []xAxis      `json:"xAxis"`
	YAxis     []yAxis      `json:"yAxis"`
	Tooltip   tooltip      `json:"tooltip"`
	DataZoom  []dataZoom   `json:"dataZoom,omitempty"`
	Title     []opts.Title `json:"title,omitempty"`
	Series    []series     `json:"series"`
	Meta      meta         `json:"rebench"`
}

// meta is what charts.js needs beyond the ECharts option.
type meta struct {
	Height  int               `json:"height"`
	Left    float64           `json:"left"`
	Right   float64           `json:"right"`
	Rows    bool              `json:"rows"`
	Small   bool              `json:"small"`
	Empty   string            `json:"empty,omitempty"`
	Light   map[string]string `json:"light"`
	Dark    map[string]string `json:"dark"`
	Markers map[string]string `json:"markers"`
	Key     []keyData         `json:"key"`
}

type keyData struct {
	Group  string    `json:"group,omitempty"`
	Text   string    `json:"text"`
	Color  string    `json:"color"`
	Dash   []float64 `json:"dash,omitempty"`
	Line   bool      `json:"line,omitempty"`
	Marker string    `json:"marker,omitempty"`
	Hollow bool      `json:"hollow,omitempty"`
	Faded  bool      `json:"faded,omitempty"`
	Area   bool      `json:"area,omitempty"`
}

type grid struct {
	opts.Grid
	Left   float64 `json:"left"`
	Right  float64 `json:"right"`
	Top    float64 `json:"top"`
	Bottom float64 `json:"bottom"`
}

type xAxis struct {
	opts.XAxis
	AxisLabel axisLabel      `json:"axisLabel"`
	AxisTick  axisTick       `json:"axisTick"`
	AxisLine  axisLine       `json:"axisLine"`
	SplitLine *splitLine     `json:"splitLine"`
	NameStyle opts.TextStyle `json:"nameTextStyle"`
}

type yAxis struct {
	opts.YAxis
	NameGap   int            `json:"nameGap,omitempty"`
	Inverse   bool           `json:"inverse,omitempty"`
	AxisLabel axisLabel      `json:"axisLabel"`
	AxisTick  axisTick       `json:"axisTick"`
	AxisLine  axisLine       `json:"axisLine"`
	SplitLine *splitLine     `json:"splitLine"`
	NameStyle opts.TextStyle `json:"nameTextStyle"`
}

type axisLabel struct {
	CustomValues []float64  `json:"customValues"`
	Formatter    string     `json:"formatter"` // "@ticks": the labels below
	Labels       []tickData `json:"rebenchTicks"`
	Color        string     `json:"color"`
	FontSize     int        `json:"fontSize"`
	HideOverlap  bool       `json:"hideOverlap"`
	Width        float64    `json:"width,omitempty"`
	Overflow     string     `json:"overflow,omitempty"`
}

type tickData struct {
	Value float64 `json:"value"`
	Label string  `json:"label"`
	Short string  `json:"short,omitempty"`
}

type axisTick struct {
	Show         bool       `json:"show"`
	CustomValues []float64  `json:"customValues,omitempty"`
	LineStyle    *lineStyle `json:"lineStyle,omitempty"`
}

type axisLine struct {
	Show      bool       `json:"show"`
	OnZero    bool       `json:"onZero"`
	LineStyle *lineStyle `json:"lineStyle,omitempty"`
}

type splitLine struct {
	Show      bool       `json:"show"`
	LineStyle *lineStyle `json:"lineStyle,omitempty"`
}

type lineStyle struct {
	opts.LineStyle
	Dash []float64 `json:"type,omitempty"` // ECharts takes an array where go-echarts has a name
	Cap  string    `json:"cap,omitempty"`
}

type tooltip struct {
	opts.Tooltip
	Formatter string         `json:"formatter"` // "@tip"
	ClassName string         `json:"className"`
	TextStyle opts.TextStyle `json:"textStyle"`
	Confine   bool           `json:"confine"`
	Delay     int            `json:"transitionDuration"`
	Extra     string         `json:"extraCssText,omitempty"`
}

type dataZoom struct {
	opts.DataZoom
	MinSpan    float64 `json:"minSpan"`
	ZoomWheel  string  `json:"zoomOnMouseWheel"`
	MoveMove   bool    `json:"moveOnMouseMove"`
	MoveWheel  bool    `json:"moveOnMouseWheel"`
	PreventPan bool    `json:"preventDefaultMouseMove"`
}

type series struct {
	charts.SingleSeries
	Z          int        `json:"z"`
	Silent     bool       `json:"silent"`
	Clip       bool       `json:"clip"`
	LineStyle  *lineStyle `json:"lineStyle,omitempty"`
	RenderItem string     `json:"renderItem,omitempty"` // "@areas", "@spans", "@refs", "@whiskers", "@notes", "@ends", "@sides" or "@cells"
	Group      string     `json:"rebenchGroup,omitempty"`
	Items      any        `json:"rebenchItems,omitempty"`
}

type markData struct {
	opts.ScatterData
	ItemStyle *opts.ItemStyle `json:"itemStyle"`
	Tip       *tipData        `json:"tip,omitempty"`
	Key       string          `json:"key,omitempty"`
	Href      string          `json:"href,omitempty"`
}

type tipData struct {
	Title string      `json:"title"`
	Rows  [][2]string `json:"rows"`
}

// Option returns the figure as an ECharts option in JSON, to be put into a
// <script type="application/json"> that charts.js reads. The characters <, > and &
// are escaped, so no label can end the script. The same option serves both themes:
// its colours are names of CSS custom properties.
func (f *Figure) Option() (json.RawMessage, error) {
	o := option{Series: []series{}, Grid: []grid{}, XAxis: []xAxis{}, YAxis: []yAxis{}, Meta: f.meta()}
	o.Tooltip = tooltip{Formatter: "@tip", ClassName: "chart-tip", Confine: true,
		Tooltip:   opts.Tooltip{Show: opts.Bool(true), Trigger: "item", TriggerOn: "none", BackgroundColor: TokenPaper.Property(), BorderColor: TokenRule.Property()},
		TextStyle: opts.TextStyle{Color: TokenInk.Property(), FontSize: 13}}
	for i, p := range f.panels {
		if f.Empty != "" {
			break
		}
		o.panel(f, p, i)
	}
	if f.zoom && f.Empty == "" {
		o.DataZoom = []dataZoom{{DataZoom: opts.DataZoom{Type: "inside", XAxisIndex: []int{0}, FilterMode: "none"},
			MinSpan: 20, ZoomWheel: "ctrl", MoveMove: true}}
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil, rebench.Errorf(rebench.CodeInternal, "chart %q: %w", f.Title, err)
	}
	return b, nil
}

func (f *Figure) meta() meta {
	m := meta{Height: f.Height, Left: f.stub, Right: f.gutter, Small: f.small, Empty: f.Empty,
		Light: map[string]string{}, Dark: map[string]string{}, Markers: map[string]string{}, Key: []keyData{}}
	m.Rows = len(f.panels) == 1 && f.panels[0].y.rows
	for _, t := range Tokens() {
		m.Light[t.Property()], m.Dark[t.Property()] = t.Hex(false), t.Hex(true)
	}
	for _, k := range f.key {
		m.Key = append(m.Key, keyData{k.group, k.text, k.token.Property(), k.dash, k.line, k.marker.Path(), k.hollow, k.faded, k.area})
	}
	return m
}

// panel adds grid, axes and series of one panel.
func (o *option) panel(f *Figure, p *panel, i int) {
	o.Grid = append(o.Grid, grid{Left: max(f.stub, 52), Right: max(f.gutter, 16), Top: 14, Bottom: 48})
	o.XAxis = append(o.XAxis, newXAxis(p.x, i))
	o.YAxis = append(o.YAxis, newYAxis(p.y, i))
	if p.title != "" {
		t := opts.Title{Title: p.title, TitleStyle: &opts.TextStyle{Color: TokenInk.Property(), FontSize: 13, FontWeight: "normal"}}
		o.Title = append(o.Title, t)
	}
	o.custom(i, "@spans", "", 1, false, items(p.spans, func(s span) any {
		return map[string]any{"from": p.x.plotted(s.from), "to": p.x.plotted(s.to), "label": s.label, "color": s.token.Property(), "opacity": s.opacity}
	}))
	o.custom(i, "@refs", "", 2, false, items(p.refs, func(r ref) any {
		if r.vertical {
			r.value = p.x.plotted(r.value)
		}
		return map[string]any{"vertical": r.vertical, "value": r.value, "label": r.label, "color": r.token.Property(), "width": r.width, "dash": r.dash, "opacity": r.opacity, "atEnd": r.atEnd}
	}))
	o.areas(p, i)
	o.lines(p, i)
	o.marks(p, i)
	o.custom(i, "@notes", "", 6, true, items(p.notes, func(n note) any {
		return map[string]any{"group": n.group, "text": n.text, "color": n.token.Property(), "x": p.x.plotted(n.x), "y": n.y}
	}))
	o.custom(i, "@ends", "", 7, false, items(p.ends, func(e end) any {
		return map[string]any{"group": e.group, "text": e.text, "color": e.token.Property(), "points": p.plotted(e.pts), "minor": e.minor}
	}))
	o.custom(i, "@sides", "", 7, false, items(p.sides, func(s side) any {
		return map[string]any{"text": s.text, "color": s.token.Property(), "y": s.y}
	}))
	if p.cells != nil {
		o.custom(i, "@cells", "", 7, false, []any{map[string]any{"head": p.cells.head, "rows": p.cells.rows, "widths": p.cells.widths(rowTextSize),
			"color": TokenInk.Property(), "headColor": TokenMuted.Property()}})
	}
}

// plotted is points as the browser plots them.
func (p *panel) plotted(pts []xy) [][2]float64 {
	out := make([][2]float64, len(pts))
	for i, q := range pts {
		out[i] = [2]float64{p.x.plotted(q.x), q.y}
	}
	return out
}

func items[T any](list []T, f func(T) any) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// custom adds a series that charts.js draws in one piece.
func (o *option) custom(i int, renderer, group string, z int, clip bool, list []any) {
	if len(list) == 0 {
		return
	}
	s := series{Z: z, Silent: true, Clip: clip, RenderItem: renderer, Group: group, Items: list}
	s.Type, s.XAxisIndex, s.YAxisIndex, s.Name = types.ChartCustom, i, i, group
	s.Data = []any{[]float64{o.XAxis[i].Min.(float64), o.YAxis[i].Min.(float64)}} // one item: the renderer reads the list
	o.Series = append(o.Series, s)
}

// areas adds the bands, a series for each group.
func (o *option) areas(p *panel, i int) {
	var groups []string
	by := map[string][]any{}
	for _, a := range p.areas {
		if _, ok := by[a.group]; !ok {
			groups = append(groups, a.group)
		}
		by[a.group] = append(by[a.group], map[string]any{"points": p.plotted(a.pts), "color": a.token.Property(), "opacity": a.opacity, "strong": a.strong})
	}
	for _, g := range groups {
		o.custom(i, "@areas", g, 3, true, by[g])
	}
}

func (o *option) lines(p *panel, i int) {
	for _, l := range p.lines {
		s := series{Z: 4, Silent: true, Clip: true, Group: l.group}
		s.Type, s.XAxisIndex, s.YAxisIndex, s.Name = types.ChartLine, i, i, l.group
		s.ShowSymbol = opts.Bool(false)
		s.Symbol = "none"
		s.LineStyle = newLineStyle(l.token, l.width, l.dash, l.opacity)
		if l.steps {
			s.Step = "end"
		}
		data := make([]opts.LineData, len(l.pts))
		for j, q := range p.plotted(l.pts) {
			data[j] = opts.LineData{Value: q}
		}
		s.Data = data
		o.Series = append(o.Series, s)
	}
}

// marks adds the points, a series for each group, and their whiskers.
func (o *option) marks(p *panel, i int) {
	var groups []string
	by := map[string][]markData{}
	whiskers := map[string][]any{}
	for _, m := range p.marks {
		if _, ok := by[m.group]; !ok {
			groups = append(groups, m.group)
		}
		by[m.group] = append(by[m.group], newMarkData(p, m))
		if low, high := known(m.low), known(m.high); m.whisker && (low != nil || high != nil) {
			whiskers[m.group] = append(whiskers[m.group], map[string]any{"x": p.x.plotted(m.x), "y": m.y, "low": low, "high": high, "horizontal": p.values == 1, "color": m.token.Property()})
		}
	}
	for _, g := range groups {
		o.custom(i, "@whiskers", g, 4, true, whiskers[g])
		s := series{Z: 5, Clip: true, Group: g}
		s.Type, s.XAxisIndex, s.YAxisIndex, s.Name = types.ChartScatter, i, i, g
		s.SymbolKeepAspect = opts.Bool(true)
		s.Data = by[g]
		o.Series = append(o.Series, s)
	}
}

func newMarkData(p *panel, m mark) markData {
	d := markData{Key: m.key, Href: m.href}
	d.Value, d.Symbol = [2]float64{p.x.plotted(m.x), m.y}, "path://"+m.marker.Path()
	d.SymbolSize = int(m.size)
	d.ItemStyle = &opts.ItemStyle{Color: m.token.Property(), Opacity: opts.Float(float32(m.opacity))}
	if m.hollow {
		d.ItemStyle.Color, d.ItemStyle.BorderColor, d.ItemStyle.BorderWidth = TokenPaper.Property(), m.token.Property(), float32(hollowStroke(m.size))
	}
	if m.tip != nil {
		d.Tip = &tipData{m.tip.title, slices.Clone(m.tip.rows)}
	}
	return d
}

func newLineStyle(t Token, width float64, dash []float64, opacity float64) *lineStyle {
	l := &lineStyle{Dash: dash, Cap: "butt"}
	l.Color, l.Width, l.Opacity = t.Property(), float32(width), opts.Float(float32(opacity))
	return l
}

func newAxisLabel(a axis) (axisLabel, []float64) {
	l := axisLabel{Formatter: "@ticks", Color: TokenMuted.Property(), FontSize: 12, HideOverlap: !a.rows, CustomValues: []float64{}, Labels: []tickData{}}
	var at []float64
	for _, t := range a.ticks {
		v := a.plotted(t.value)
		l.CustomValues = append(l.CustomValues, v)
		l.Labels = append(l.Labels, tickData{v, t.label, t.short})
		at = append(at, v)
	}
	return l, at
}

func newXAxis(a axis, i int) xAxis {
	x := xAxis{}
	x.Type, x.GridIndex, x.Min, x.Max = "value", i, a.plotted(a.min), a.plotted(a.max)
	x.Name, x.NameLocation, x.NameGap = a.title, "middle", 30
	var at []float64
	x.AxisLabel, at = newAxisLabel(a)
	x.AxisTick = axisTick{Show: true, CustomValues: at, LineStyle: newLineStyle(TokenMuted, 1, nil, 1)}
	x.AxisLine = axisLine{Show: true, LineStyle: newLineStyle(TokenMuted, 1, nil, 1)}
	x.SplitLine = &splitLine{}
	x.NameStyle = opts.TextStyle{Color: TokenMuted.Property(), FontSize: 12}
	return x
}

func newYAxis(a axis, i int) yAxis {
	y := yAxis{NameGap: 40, Inverse: a.rows}
	y.Type, y.GridIndex, y.Min, y.Max = "value", i, a.min, a.max
	y.Name, y.NameLocation = a.title, "middle"
	var at []float64
	y.AxisLabel, at = newAxisLabel(a)
	y.AxisTick = axisTick{CustomValues: at}
	y.AxisLine = axisLine{}
	y.SplitLine = &splitLine{Show: !a.rows, LineStyle: newLineStyle(TokenRule, 1, nil, 1)}
	y.NameStyle = opts.TextStyle{Color: TokenMuted.Property(), FontSize: 12}
	if a.rows {
		y.AxisLabel.Color, y.AxisLabel.Overflow = TokenInk.Property(), "truncate"
	}
	return y
}
