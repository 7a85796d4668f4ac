package member

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/fleet/registry"
)

// TestRowsFit: a host reports as many rows as the NATS server takes in one message.
func TestRowsFit(t *testing.T) {
	rows := make([]api.Session, 1000)
	for i := range rows {
		rows[i].Session = fmt.Sprint("s", i)
	}
	all := func() ([]api.Session, []string) { return rows, nil }
	whole, sum := encode(1<<30, all)
	const most = 100 << 10
	part, less := encode(most, all)
	if len(part) > most || len(part) < most/4 || len(whole) < 2*most || sum == less {
		t.Errorf("%d bytes of %d", len(part), len(whole))
	}
	f := newFleet(t)
	if n := (&reporter{nc: f.nc}).most(); n != 1<<20 { // of a server that isn't configured otherwise
		t.Errorf("it sends up to %d bytes", n)
	}
}

// TestLargePrompts: a prompt that is too large, or too deep to be read, goes as a short one that says so, and all other
// rows go as they are.
func TestLargePrompts(t *testing.T) {
	form := func(name, schema string) api.Session {
		r := &agent.Request{ID: "p-" + name, Type: agent.PromptForm, Channel: agent.ChannelHook, Schema: json.RawMessage(schema)}
		r.Sign()
		return api.Session{Session: name, ID: "id-" + name, Prompt: r}
	}
	small := `{"type":"object","properties":{"z":{"default":9007199254740993},"a":{"title":"<b>"}}}`
	texts := func(bytes int) string { return `{"a":"` + strings.Repeat("<", bytes) + `"}` }
	const levels = 9998
	for name, c := range map[string]struct {
		rows []api.Session
		most int
		part []string // those that are abridged
	}{
		"all small":    {[]api.Session{form("a", small), form("b", small)}, 1 << 20, nil},
		"a large one":  {[]api.Session{form("a", small), form("b", texts(3400000)), form("c", small)}, 1 << 20, []string{"b"}},
		"a deep one":   {[]api.Session{form("a", strings.Repeat(`[`, levels)+strings.Repeat(`]`, levels)), form("b", small)}, 1 << 20, []string{"a"}},
		"much in all":  {[]api.Session{form("a", texts(30000)), form("b", small), form("c", texts(50000)), form("d", texts(40000))}, 80000, []string{"c"}},
		"a long error": {[]api.Session{form("a", small), {Session: "b", ID: "id-b", Failure: &api.Failure{Text: strings.Repeat("x", mostRow)}}}, 1 << 20, nil},
	} {
		fields, _ := encode(c.most, func() ([]api.Session, []string) { return c.rows, nil })
		r := registry.New()
		r.Admit("box2")
		if err := r.SetRows("box2", withNumber(1, fields)); err != nil || len(fields) > c.most {
			t.Fatalf("%s: %d bytes, %v", name, len(fields), err)
		}
		h, _ := r.Host("box2", time.Now())
		if len(h.Sessions) != len(c.rows) {
			t.Fatalf("%s: %d rows of %d", name, len(h.Sessions), len(c.rows))
		}
		for i, row := range h.Sessions {
			whole, _ := c.rows[i].Prompt.(*agent.Request)
			got := agent.RequestOf(row.Prompt)
			part := slices.Contains(c.part, row.Session)
			if (whole == nil) != (got == nil) || got != nil && (got.Digest != whole.Digest || got.Whole() == part || got.IsAbridged() != part || !part && string(got.Schema) != string(whole.Schema)) {
				t.Errorf("%s: %s became %+v", name, row.Session, got)
			}
		}
	}
}
