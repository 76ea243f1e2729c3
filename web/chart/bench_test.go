package chart

import "testing"

func BenchmarkCurvesOption(b *testing.B) {
	c := sampleCurves()
	for b.Loop() {
		if _, err := Curves(c, CurvesOptions{}).Option(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCurvesSVG(b *testing.B) {
	c := sampleCurves()
	for b.Loop() {
		if _, err := Curves(c, CurvesOptions{}).SVG(SVGOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
