package view

import "rebench/web/chart"

// markClass is the class that gives a small graphic its agent's colour.
func markClass(label string) string { return "hue-" + string(chart.StyleOf(label).Token) }

// markPath is the agent's shape, 20 units across about the origin.
func markPath(label string) string { return chart.StyleOf(label).Marker.Path() }
