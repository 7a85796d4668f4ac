package tui

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
)

// TestHostRows: rows of a host are read once as long as they are the same. A host can't take another session's place,
// nor fill the gateway's pictures.
func TestHostRows(t *testing.T) {
	mode := "auto\x1b[2J"
	rows := []api.Session{
		{Session: "api", ID: "01A", Agent: "claude", State: "prompt", Since: api.At(time.Unix(5, 0)), Title: strings.Repeat("é", 5000), Mode: &mode, Prompt: map[string]any{"id": "p1", "type": "permission", "digest": "d"}},
		{Session: "other", ID: "01A", State: "idle"},
		{Session: "old", ID: "01B", Agent: agent.Generic, State: "exited"},
	}
	var kept HostRows
	list := kept.Of("box2", true, rows)
	if len(list) != 2 || list[0].Status.ID != "box2/01A" || list[0].Status.Name != "box2/api" || list[1].Status.ID != "box2/01B" {
		t.Fatalf("rows: %+v", list)
	}
	if s := list[0].Status; s.Now != agent.Prompt || s.Request == nil || s.Request.ID != "p1" || !list[0].Cut || !s.Driven || len(s.Title) > mostText || strings.Contains(*s.Mode, "\x1b") {
		t.Errorf("the first: %+v", s)
	}
	if s := list[1].Status; !s.Over() || s.Driven {
		t.Errorf("the ended one: %+v", s)
	}
	if again := kept.Of("box2", true, rows); again[0].Status != list[0].Status {
		t.Error("rows that are the same are read again")
	}
	if s := kept.Of("box2", false, rows)[0].Status; s.Now != agent.Unknown || s.Request != nil || !strings.HasPrefix(s.Title, "last known: prompt · é") {
		t.Errorf("of a host that is away: %+v", s)
	}
	rows = []api.Session{{Session: "new", ID: "01C", State: "odd"}}
	if list := kept.Of("box2", false, rows); len(list) != 1 || list[0].Status.Name != "box2/new" {
		t.Errorf("new rows: %+v", list)
	}
}
