// Package chart turns results into charts: a [Figure] is built from an analysis
// result and drawn twice from the same data, as an ECharts option in JSON for the
// browser ([Figure.Option], through go-echarts' types) and as an SVG picture for
// export, link previews and readers without JavaScript ([Figure.SVG]).
//
// The SVG writer is our own: gonum/plot's writes style attributes, which a
// Content-Security-Policy of "default-src 'self'" blocks, and has neither labels
// that move apart nor text that stays outside the plot.
//
// # In the page
//
//	<div class="plot" data-chart="chart-curves" role="img" aria-label="{Figure.Alt}"></div>
//	<script type="application/json" id="chart-curves">{Figure.Option}</script>
//
// with echarts.min.js and charts.js loaded with defer. charts.js fills the element,
// sets its height, and puts after it a list ul.chart-key of li.chart-key-item: for
// an agent a button.chart-key-button[aria-pressed] that singles it out, at the end
// li.chart-hint on how to zoom or, while zoomed, li.chart-reset with
// button.chart-reset-button. Tooltips are div.chart-tip with strong.chart-tip-title
// and dl.chart-tip-rows. The option of an empty figure draws p.chart-empty; an
// attempt that goes on needs it, so that rebench.updateChart finds the chart later.
// Colours come from the CSS custom properties of [CSSProperties], and without them
// from the option itself; setting data-theme on the root element redraws without
// losing the zoom.
//
// # Signs
//
// An agent has one [Style] everywhere. Filled marks are estimates, hollow faded
// marks on dotted lines are saturated (k >= n), larger hollow marks are the paper's
// own digitised points. Where a band fades out or a bar ends in a
// dotted arrow, that end of the interval is unknown.
package chart
