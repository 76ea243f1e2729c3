package analysis

import (
	"sync"

	"rebench/internal/stats"
)

// maxDrawBytes bounds the memory of cached bootstrap draws of one dataset.
const maxDrawBytes = 96 << 20

// drawCache keeps the draws of cells. Draws depend on the cell alone, so every
// view and every k shares them.
type drawCache struct {
	mu    sync.Mutex
	bytes int
	draws map[drawKey][]float64
}

type drawKey struct {
	cell *stats.Cell
	k    int
	est  stats.Estimator
	conv stats.Convention
}

// get returns b draws of the cell for each k, computing the missing ones in one
// pass over the resamples.
func (dc *drawCache) get(cell *stats.Cell, ks []int, b int, est stats.Estimator, conv stats.Convention) [][]float64 {
	out := make([][]float64, len(ks))
	var missing, at []int
	dc.mu.Lock()
	for i, k := range ks {
		if out[i] = dc.draws[drawKey{cell, k, est, conv}]; out[i] == nil {
			missing, at = append(missing, k), append(at, i)
		}
	}
	dc.mu.Unlock()
	if len(missing) == 0 {
		return out
	}
	fresh := cell.Draws(missing, b, est, conv)
	dc.mu.Lock()
	defer dc.mu.Unlock()
	if dc.draws == nil || dc.bytes > maxDrawBytes {
		dc.draws, dc.bytes = map[drawKey][]float64{}, 0
	}
	for i, d := range fresh {
		out[at[i]] = d
		dc.draws[drawKey{cell, missing[i], est, conv}] = d
		dc.bytes += 8 * len(d)
	}
	return out
}
