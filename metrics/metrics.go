package metrics

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"berth/agent"
	"berth/sessions"
	"berth/sessions/deliver"
	"berth/sessions/events"
)

// Metrics has the numbers of one server.
type Metrics struct {
	sources  Sources
	registry *prometheus.Registry
	one      sync.Mutex // one scrape at a time

	list  []metric
	descs []*prometheus.Desc

	events, nudges, answers *prometheus.CounterVec
	echo                    prometheus.Histogram

	cancel context.CancelFunc
	done   chan struct{}
}

// echoBuckets are seconds: most echoes take less than a millisecond.
var echoBuckets = []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1}

// New makes the metrics and begins to count events, until Close.
func New(sources Sources, log *slog.Logger) *Metrics {
	m := &Metrics{sources: sources, registry: prometheus.NewRegistry(), list: list(), done: make(chan struct{})}
	vectors := map[string]**prometheus.CounterVec{nameEvents: &m.events, nameNudges: &m.nudges, nameAnswers: &m.answers}
	for _, one := range m.list {
		m.descs = append(m.descs, prometheus.NewDesc(one.name, one.help, one.labels, nil))
		if v := vectors[one.name]; v != nil {
			*v = prometheus.NewCounterVec(prometheus.CounterOpts{Name: one.name, Help: one.help}, one.labels)
			m.registry.MustRegister(*v)
		}
		if one.name == nameEcho {
			m.echo = prometheus.NewHistogram(prometheus.HistogramOpts{Name: one.name, Help: one.help, Buckets: echoBuckets})
			m.registry.MustRegister(m.echo)
		}
	}
	for _, t := range sessions.EventTypes {
		if !slices.Contains([]string{"snapshot", "live", "heartbeat"}, t) { // lines of watch alone
			m.events.WithLabelValues(t)
		}
	}
	for _, v := range []deliver.Verdict{deliver.Confirmed, deliver.Unconfirmed, deliver.Refused, deliver.Lost} {
		m.nudges.WithLabelValues(string(v))
	}
	for _, r := range []string{answerConfirmed, answerUnconfirmed, answerElsewhere, answerUndelivered} {
		m.answers.WithLabelValues(r)
	}
	m.registry.MustRegister(scraper{m}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	reader := sources.Sessions.Events().Follow(sources.Sessions.Events().Head())
	go func() {
		defer close(m.done)
		if err := m.count(ctx, reader); ctx.Err() == nil {
			log.Error("events are no longer counted for metrics", "error", err)
		}
	}()
	return m
}

// Close ends the counting.
func (m *Metrics) Close() {
	m.cancel()
	<-m.done
}

// Echoed counts the echo of a key.
func (m *Metrics) Echoed(took time.Duration) { m.echo.Observe(took.Seconds()) }

// Results of answers to prompts.
const (
	answerConfirmed   = "confirmed"   // the agent goes on
	answerUnconfirmed = "unconfirmed" // it was given, and nothing shows that the agent has it
	answerElsewhere   = "elsewhere"   // the prompt was answered by another way, such as in the terminal
	answerUndelivered = "undelivered" // it wasn't given
)

// count counts the events until ctx ends.
func (m *Metrics) count(ctx context.Context, reader *events.Reader) error {
	for {
		line, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		if sessions.KnownEvent(line.Type) {
			m.events.WithLabelValues(line.Type).Inc()
		}
		switch line.Type {
		case "nudge":
			var e struct{ Verdict deliver.Verdict }
			if json.Unmarshal(line.Raw, &e) != nil {
				continue
			}
			switch e.Verdict {
			case deliver.Confirmed, deliver.Unconfirmed, deliver.Refused, deliver.Lost:
				m.nudges.WithLabelValues(string(e.Verdict)).Inc()
			}
		case "respond":
			var e struct {
				Outcome              string
				Delivered, Confirmed bool
			}
			if json.Unmarshal(line.Raw, &e) != nil {
				continue
			}
			result := answerUndelivered
			switch {
			case e.Confirmed:
				result = answerConfirmed
			case e.Outcome == agent.OutcomeElsewhere:
				result = answerElsewhere
			case e.Delivered:
				result = answerUnconfirmed
			}
			m.answers.WithLabelValues(result).Inc()
		}
	}
}

// scraper makes the metrics that are read at a scrape.
type scraper struct{ *Metrics }

// Describe lists them.
func (s scraper) Describe(out chan<- *prometheus.Desc) {
	for i, m := range s.list {
		if m.read != nil {
			out <- s.descs[i]
		}
	}
}

// Collect reads them.
func (s scraper) Collect(out chan<- prometheus.Metric) {
	src := s.sources
	now := snapshot{Figures: src.Sessions.Figures(), edge: src.Edge(), lines: src.Audit.Lines(), failing: src.Audit.Failing(), shipped: src.Shipped(), now: src.Now(), Sources: src}
	for i, m := range s.list {
		if m.read != nil {
			m.read(&now, func(value float64, labels ...string) {
				out <- prometheus.MustNewConstMetric(s.descs[i], m.kind, value, labels...)
			})
		}
	}
}

// Write writes all metrics in Prometheus's text format.
func (m *Metrics) Write(w io.Writer) error {
	return m.encode(w, expfmt.NewFormat(expfmt.TypeTextPlain))
}

func (m *Metrics) encode(w io.Writer, format expfmt.Format) error {
	m.one.Lock()
	families, err := m.registry.Gather()
	m.one.Unlock()
	if err != nil {
		return fmt.Errorf("gather metrics: %w", err)
	}
	encoder := expfmt.NewEncoder(w, format)
	for _, f := range families {
		if err := encoder.Encode(f); err != nil {
			return fmt.Errorf("write metrics: %w", err)
		}
	}
	if c, ok := encoder.(expfmt.Closer); ok {
		return c.Close()
	}
	return nil
}
