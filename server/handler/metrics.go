package handler

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are what /metrics shows, in a registry of their own.
type metrics struct {
	registry *prometheus.Registry
	duration *prometheus.HistogramVec
	bodies   *prometheus.CounterVec
}

func newMetrics(store Store) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rebench_http_request_duration_seconds", Help: "Time to answer a request, by route.",
			Buckets: []float64{.001, .003, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method", "route", "code"}),
		bodies: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rebench_responses_total", Help: "Results served, by where they came from.",
		}, []string{"from"}),
	}
	revision := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rebench_data_revision", Help: "Newest data revision, 0 in an empty database, -1 when the database does not answer.",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		r, err := store.LatestRevision(ctx)
		if err != nil {
			return -1
		}
		return float64(r.ID)
	})
	m.registry.MustRegister(m.duration, m.bodies, revision, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) observe(method, route string, status int, d time.Duration) {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
	default:
		method = "other" // keeps clients from making series
	}
	m.duration.WithLabelValues(method, route, strconv.Itoa(status)).Observe(d.Seconds())
}
