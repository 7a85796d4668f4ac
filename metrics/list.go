package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"berth/agent"
	"berth/audit"
	"berth/audit/ship"
	"berth/sessions"
	"berth/sshd"
)

// Sources are where the numbers come from.
type Sources struct {
	Sessions *sessions.Registry
	Audit    *audit.Log
	Shipped  func() *ship.Status // of the audit log; nil: it isn't shipped
	Edge     func() sshd.Stats
	Started  time.Time
	Version  string
	Now      func() time.Time
}

// metric is one of Berth's metrics.
type metric struct {
	name   string
	kind   prometheus.ValueType
	labels []string
	help   string
	// read passes on its values. It is nil for a metric that is counted all the time.
	read func(s *snapshot, set func(value float64, labels ...string))
}

// snapshot is what one scrape reads.
type snapshot struct {
	sessions.Figures
	edge    sshd.Stats
	lines   uint64 // of the audit log
	failing bool   // the audit log can't be written
	shipped *ship.Status
	now     time.Time
	Sources
}

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
	// histogram is the kind of the one metric that has buckets.
	histogram = prometheus.UntypedValue
)

// Names of the metrics that are counted all the time.
const (
	nameEvents  = "berth_events_total"
	nameNudges  = "berth_nudges_total"
	nameAnswers = "berth_answers_total"
	nameEcho    = "berth_echo_seconds"
)

// one makes the read function of a metric without labels.
func one(value func(s *snapshot) float64) func(*snapshot, func(float64, ...string)) {
	return func(s *snapshot, set func(float64, ...string)) { set(value(s)) }
}

// list has all metrics, in the order of docs/metrics.md.
func list() []metric {
	return []metric{
		{"berth_info", gauge, []string{"version"}, "always 1; the label is the server's version", func(s *snapshot, set func(float64, ...string)) { set(1, s.Version) }},
		{"berth_start_time_seconds", gauge, nil, "when the server started, as seconds since 1970", one(func(s *snapshot) float64 { return float64(s.Started.UnixMilli()) / 1000 })},
		{"berth_sessions", gauge, []string{"agent", "state"}, "sessions, by agent and state", func(s *snapshot, set func(float64, ...string)) {
			for name, states := range s.States {
				for _, state := range agent.States {
					set(float64(states[state]), name, string(state))
				}
			}
		}},
		{"berth_holders", gauge, nil, "holders that run, one for each running session", one(func(s *snapshot) float64 { return float64(s.Holders) })},
		{"berth_prompts_open", gauge, nil, "prompts of agents that wait for an answer", one(func(s *snapshot) float64 { return float64(s.Prompts) })},
		{"berth_prompt_oldest_seconds", gauge, nil, "age of the oldest open prompt; 0 without one", one(func(s *snapshot) float64 {
			if s.Prompts == 0 {
				return 0
			}
			return max(0, s.now.Sub(s.Oldest).Seconds())
		})},
		{"berth_queued_messages", gauge, nil, "messages in the sessions' queues", one(func(s *snapshot) float64 { return float64(s.Queued) })},
		{nameNudges, counter, []string{"verdict"}, "messages to agents, by verdict", nil},
		{nameAnswers, counter, []string{"result"}, "answers to prompts, by what became of them", nil},
		{nameEvents, counter, []string{"type"}, "events, by type", nil},
		{"berth_events_pending", gauge, nil, "events that wait in memory because the event log can't be written", one(func(s *snapshot) float64 { return float64(s.EventLog.Pending) })},
		{"berth_events_dropped_total", counter, nil, "events lost while the event log couldn't be written", one(func(s *snapshot) float64 { return float64(s.EventLog.Dropped) })},
		{"berth_event_log_bytes", gauge, nil, "size of the event log", one(func(s *snapshot) float64 { return float64(s.EventLog.Bytes) })},
		{"berth_output_bytes_total", counter, nil, "bytes of output of all programs that the server has read", one(func(s *snapshot) float64 { return float64(s.OutputBytes) })},
		{"berth_journal_lag_bytes", gauge, nil, "bytes of output in the journals that the server has yet to read", one(func(s *snapshot) float64 { return float64(s.Unread) })},
		{"berth_journal_lag_max_bytes", gauge, nil, "the same, of the session with the most", one(func(s *snapshot) float64 { return float64(s.MostUnread) })},
		{nameEcho, histogram, nil, "time in the server and the program from a key of an attached client to the next output for that client, up to 10 s", nil},
		{"berth_logins_total", counter, []string{"result"}, "logins: accepted; refused; too_many (of one identity a second); penalized (connections of sources that kept failing)", func(s *snapshot, set func(float64, ...string)) {
			r := s.edge.Refused
			set(float64(s.edge.Logins), "accepted")
			set(float64(r.Logins-min(r.TooMany, r.Logins)), "refused")
			set(float64(r.TooMany), "too_many")
			set(float64(r.Penalized), "penalized")
		}},
		{"berth_limit_refusals_total", counter, []string{"limit"}, "what a field of `limits` refused", func(s *snapshot, set func(float64, ...string)) {
			r := s.edge.Refused
			set(float64(r.Dropped), "max_startups")
			set(float64(r.Full), "connections")
			set(float64(r.Channels), "channels_per_connection")
			set(float64(r.Unread), "caller_unread")
			set(float64(r.Verbs), "verbs_per_second")
			set(float64(r.Commands), "command_bytes")
		}},
		{"berth_connections", gauge, nil, "open SSH connections", one(func(s *snapshot) float64 { return float64(s.edge.Connections) })},
		{"berth_connections_logging_in", gauge, nil, "of these, connections that haven't logged in", one(func(s *snapshot) float64 { return float64(s.edge.Waiting) })},
		{"berth_calls_running", gauge, nil, "calls of verbs, attachments and file transfers that run", one(func(s *snapshot) float64 { return float64(s.edge.Calls) })},
		{"berth_calls_total", counter, nil, "the same since the server started", one(func(s *snapshot) float64 { return float64(s.edge.Served) })},
		{"berth_audit_lines_total", counter, nil, "lines of the audit log, since it was begun", one(func(s *snapshot) float64 { return float64(s.lines) })},
		{"berth_audit_failing", gauge, nil, "1 while the audit log can't be written", one(func(s *snapshot) float64 {
			if s.failing {
				return 1
			}
			return 0
		})},
		{"berth_audit_unshipped_lines", gauge, nil, "lines of the audit log that the receiver of `audit.ship` has yet to take; 0 without one", one(func(s *snapshot) float64 {
			if s.shipped == nil {
				return 0
			}
			return float64(s.lines - min(s.lines, s.shipped.Sent))
		})},
		{"berth_audit_ship_lost_total", counter, nil, "lines that were removed from the audit log before they were shipped", one(func(s *snapshot) float64 {
			if s.shipped == nil {
				return 0
			}
			return float64(s.shipped.Lost)
		})},
		{"berth_disk_free_bytes", gauge, nil, "free space on the state folder's disk", one(func(s *snapshot) float64 { return float64(s.Disk.FreeBytes) })},
		{"berth_disk_size_bytes", gauge, nil, "size of that disk", one(func(s *snapshot) float64 { return float64(s.Disk.TotalBytes) })},
	}
}

func (m metric) kindName() string {
	switch m.kind {
	case counter:
		return "counter"
	case gauge:
		return "gauge"
	}
	return "histogram"
}
