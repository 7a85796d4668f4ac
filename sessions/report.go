package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"berth/api"
	"berth/orchestrate/gate"
	"berth/sessions/hold"
)

// kindReport is both the record and the event of a report.
const kindReport = "report"

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

// reportEvent is what an agent says of its work.
type reportEvent struct {
	Kind    gate.Kind `json:"kind"`
	Message string    `json:"message"`
	By      By        `json:"by"`
}

// Reported is the answer of the verb report.
type Reported struct {
	Session string    `json:"session"`
	ID      string    `json:"id"`
	Kind    gate.Kind `json:"kind"`
	LetsGo  bool      `json:"lets_go"` // the gate, at the end of this turn
	Seq     uint64    `json:"seq"`
}

// Report takes in what the agent in the session says of its work. Who calls
// must have made sure that it is that agent.
func (s *Session) Report(ctx context.Context, by Actor, kind gate.Kind, message string) (Reported, error) {
	data, err := json.Marshal(reportEvent{Kind: kind, Message: message, By: by.by()})
	if err != nil {
		return Reported{}, fmt.Errorf("encode the report: %w", err)
	}
	err = s.record(ctx, kindReport, data, func(c *core) error {
		if err := c.spec.Gate.CheckReport(kind, message); err != nil {
			return api.Errorf(api.CodeBadRequest, "report: %w", err)
		}
		return c.reports.take(len(message), c.now())
	})
	if err != nil {
		return Reported{}, err
	}
	return ask(ctx, s, func(c *core) (Reported, error) {
		g := c.gateNow()
		return Reported{Session: g.Session, ID: g.ID, Kind: kind, LetsGo: g.Open || !c.spec.Gate.Closed(), Seq: g.Seq}, nil
	})
}

func (c *core) applyReport(r hold.Record) error {
	told, err := decode[reportEvent](r)
	if err != nil {
		return err
	}
	if c.detection != nil {
		c.detection.gate.Reported(told.Kind)
	}
	c.flushTyping(c.now(), true)
	c.event(r, kindReport, told)
	return nil
}
