package analysis_test

import (
	"path/filepath"
	"testing"

	"rebench/internal/analysis"
	"rebench/internal/published"
	"rebench/internal/store"
)

// BenchmarkLeaderboardCold computes the default leaderboard on the published data
// with nothing cached but the loaded dataset.
func BenchmarkLeaderboardCold(b *testing.B) {
	s, err := store.Open(b.Context(), store.Options{Path: filepath.Join(b.TempDir(), "rebench.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := published.Load(b.Context(), s, nil); err != nil {
		b.Fatal(err)
	}
	b.Run("dataset", func(b *testing.B) {
		for b.Loop() {
			if _, err := analysis.New(s, analysis.Options{}).Dataset(b.Context(), 0); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("leaderboard", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			e := analysis.New(s, analysis.Options{})
			if _, err := e.Dataset(b.Context(), 0); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if _, err := e.Leaderboard(b.Context(), analysis.Query{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("curves", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			e := analysis.New(s, analysis.Options{})
			if _, err := e.Dataset(b.Context(), 0); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if _, err := e.Curves(b.Context(), analysis.Query{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
