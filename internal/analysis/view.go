package analysis

import "context"

// View returns what results of the query are computed from.
func (e *Engine) View(ctx context.Context, q Query) (*View, error) {
	q.Budget = 0
	return cached(ctx, e, "view", q, func(ds *Dataset, q Query) (*View, error) {
		v := ds.view(q, ds.frame(q))
		return &v, nil
	})
}
