package ledger

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"berth/sessions/events"
)

const good = `{"cursor":"e7","type":"prompt","session":"api","id":"01A","seq":3,"time":"2026-01-02T03:04:05.678Z","what":{"a":[1, 2]}}`

func TestStored(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	const bad = "the host sent an event that its gateway can't read"
	for _, tt := range []struct{ name, raw, want string }{
		{"an event", good, `{"cursor":"f12","type":"prompt","session":"box2/api","id":"01A","seq":3,"time":"2026-01-02T03:04:05.678Z","host":"box2","host_cursor":"e7","what":{"a":[1,2]}}`},
		{"a host's own event", `{"cursor":"e7","type":"gap","session":null,"id":null,"seq":null,"time":"2026-01-02T03:04:05.678Z","from":"e5","to":"e7"}`,
			`{"cursor":"f12","type":"gap","session":null,"id":null,"seq":null,"time":"2026-01-02T03:04:05.678Z","host":"box2","host_cursor":"e7","from":"e5","to":"e7"}`},
		{"another host's name", strings.Replace(good, `"api"`, `"box3/api"`, 1), bad},
		{"fields of the ledger", strings.Replace(good, `"what"`, `"Session":"box3/api","HOST":"box3","host":"box3","Cursor":"f1","ID":"x","what"`, 1),
			`{"cursor":"f12","type":"prompt","session":"box2/api","id":"01A","seq":3,"time":"2026-01-02T03:04:05.678Z","host":"box2","host_cursor":"e7","what":{"a":[1,2]}}`},
		{"a line break", strings.Replace(good, `[1, 2]`, "[1,\n2]", 1), `{"cursor":"f12","type":"prompt","session":"box2/api","id":"01A","seq":3,"time":"2026-01-02T03:04:05.678Z","host":"box2","host_cursor":"e7","what":{"a":[1,2]}}`},
		{"a name given twice", strings.Replace(good, `"id"`, `"session":"../x","id"`, 1), bad},
		{"a type of another form", strings.Replace(good, `"prompt"`, `"\u001b[2J"`, 1), bad},
		{"no time", strings.Replace(good, `"time"`, `"tim"`, 1), bad},
		{"a session without an id", strings.Replace(good, `"01A"`, `null`, 1), bad},
		{"an event of no session", `{"cursor":"e7","type":"state_change","session":null,"id":null,"seq":null,"time":"2026-01-02T03:04:05.678Z","next":"idle"}`, bad},
		{"too long", strings.Replace(good, `[1, 2]`, `"`+strings.Repeat("x", mostLine)+`"`, 1), bad},
	} {
		data, cursor, err := stored("box2", []byte(tt.raw), now)
		if err != nil || cursor != 7 {
			t.Errorf("%s: cursor %d, %v", tt.name, cursor, err)
			continue
		}
		line, err := read(data, 12)
		if err != nil || line.Host != "box2" || line.Cursor != 12 || !json.Valid(line.Raw) {
			t.Errorf("%s: read %+v, %v", tt.name, line, err)
		}
		if tt.want == bad {
			if line.Type != events.TypeGap || line.ID != "" || line.Session != "" || !strings.Contains(string(line.Raw), `"from":"e7","to":"e7","why":"`+bad) {
				t.Errorf("%s isn't a gap: %.300s", tt.name, line.Raw)
			}
		} else if string(line.Raw) != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, line.Raw, tt.want)
		}
	}
	for _, raw := range []string{"", "[]", "{}", `{"cursor":7}`, `{"cursor":"f7"}`, `{"cursor":"e7"`, `{"cursor":"e99999999999999999999"}`} {
		if _, _, err := stored("box2", []byte(raw), now); !errors.Is(err, errCursor) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// FuzzStored: what a host sends is refused, or kept as one line about that host alone.
func FuzzStored(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"cursor":"e1","CURSOR":"e2","type":"x","session":"a","id":"b","seq":1,"time":"2026-01-02T03:04:05Z","\u0073ession":"box3/a"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		data, _, err := stored("box2", raw, time.Now())
		if err != nil {
			return
		}
		line, err := read(data, 9)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if line.Host != "box2" || line.Session != "" && !strings.HasPrefix(line.Session, "box2/") || line.Cursor != 9 || strings.Contains(string(line.Raw), "\n") {
			t.Fatalf("%+v\n%s", line, line.Raw)
		}
		var out struct {
			Cursor, Session, Host string
		}
		if err := json.Unmarshal(line.Raw, &out); err != nil || out.Cursor != "f9" || out.Host != "box2" || out.Session != line.Session {
			t.Fatalf("%v: %s", err, line.Raw)
		}
	})
}
