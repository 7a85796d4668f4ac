package gates

import (
	"time"

	"berth/api"
	"berth/sessions/events"
	"berth/sessions/gates/gate"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// These bound an agent's reports over time, so that they don't push other events out of the log.
// One session may fill 4 of the log's 256 MiB at once, and all of it in three days.
const (
	reportCost      = 1 << 10 // of a report, without its message
	reportsAtOnce   = 4 << 20
	reportsInSecond = 1 << 10
)

// reports counts what an agent has reported lately. The zero value has seen none.
type reports struct {
	spent int
	last  time.Time
}

// take counts a report in, or says that it is too much.
func (r *reports) take(message int, now time.Time) error {
	if n := int(min(now.Sub(r.last).Seconds()*reportsInSecond, reportsAtOnce)); n > 0 {
		r.spent, r.last = max(0, r.spent-n), now
	}
	if r.spent+reportCost+message > reportsAtOnce {
		return api.Errorf(api.CodeLimit, "report: too many in a short time: wait a minute")
	}
	r.spent += reportCost + message
	return nil
}

// Report is what an agent says of its work: the data of the record, and of the event.
type Report struct {
	Kind    gate.Kind `json:"kind"`
	Message string    `json:"message"`
	By      loop.By   `json:"by"`
}

// MayReport says why the report cannot be taken, or counts it in.
func (g *Gates) MayReport(report Report) error {
	if err := g.env.Gate().CheckReport(report.Kind, report.Message); err != nil {
		return api.Errorf(api.CodeBadRequest, "report: %w", err)
	}
	return g.reports.take(len(report.Message), g.env.Now())
}

func (g *Gates) reported(r hold.Record) (told loop.Outcome, err error) {
	report, err := loop.Decode[Report](r)
	if err != nil {
		return told, err
	}
	if g.followed {
		g.turn.Reported(report.Kind)
	}
	told.Events = []events.Event{{Type: KindReport, Cause: r.N, Data: report}}
	return told, nil
}

// Events are the fields of each type of event of this package, beside those of the head.
var Events = map[string]any{KindReport: Report{}, VerbGate: gateEvent{}, eventStart: startEvent{}, eventTranscript: transcriptEvent{}}
