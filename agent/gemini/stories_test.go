package gemini_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect"
)

// story is a sequence of reports by sources, with their times in milliseconds, and the
// states that detection makes of them.
type story struct {
	t    *testing.T
	fold *detect.Fold
	now  int
	told []string
}

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func tell(t *testing.T) *story {
	s := &story{t: t, fold: detect.New(gemini.Driver{}, detect.Options{Start: midnight})}
	s.at(100).title("◇  Ready (work)").screen(rest...)
	s.at(400).hook("SessionStart", `"source":"startup"`)
	return s
}

// Screens: at rest, at work, with a confirmation.
var (
	rest = []string{"Tips", "", "  ? for shortcuts", ruled, upper, hinted, lower, foot}
	work = []string{"Tips", "", " ⠧ Thinking... (esc to cancel, 3s)", ruled, upper, hinted, lower, foot}
)

func confirm(command string) []string {
	return box("? Shell  "+command, "╭──────────╮", "│ "+command+strings.Repeat(" ", 8-len(command))+" │", "╰──────────╯", "Allow execution of [Shell]?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)")
}

func (s *story) keep(r detect.Result) {
	for _, t := range r.Transitions {
		line := fmt.Sprintf("%d %s", t.Time.Sub(midnight).Milliseconds(), t.Next)
		if t.Request != nil {
			line += " " + text(t.Request.Input)
		}
		if t.Failure != nil {
			line += " " + string(t.Failure.Class)
		}
		s.told = append(s.told, line)
	}
}

func (s *story) moment() time.Time { return midnight.Add(time.Duration(s.now) * time.Millisecond) }

func (s *story) at(ms int) *story {
	for {
		due := s.fold.Deadline()
		wake := int(due.Sub(midnight).Milliseconds())
		if due.IsZero() || wake > ms {
			break
		}
		s.now = max(wake, s.now)
		s.keep(s.fold.Tick(s.moment()))
	}
	s.now = ms
	return s
}

func (s *story) facts(facts []agent.Fact, err error) *story {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range facts {
		f.Time = s.moment()
		s.keep(s.fold.Apply(f))
	}
	return s
}

// hook is an event that has just happened; late, one that happened before.
func (s *story) hook(name, rest string) *story { return s.late(s.now-30, name, rest) }

func (s *story) late(ms int, name, rest string) *story {
	stamp, _ := json.Marshal(midnight.Add(time.Duration(ms) * time.Millisecond))
	payload := fmt.Sprintf(`{"session_id":"c","hook_event_name":%q,"timestamp":%s,%s}`, name, stamp, rest)
	return s.facts(gemini.Driver{}.Hook([]byte(payload)))
}

func (s *story) title(title string) *story { return s.facts(gemini.Driver{}.Title(title), nil) }

func (s *story) screen(rows ...string) *story {
	return s.facts([]agent.Fact{{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: draw(rows...)}}, nil)
}

func (s *story) begin(ms int) *story {
	return s.at(ms).hook("BeforeAgent", `"prompt":"go"`).title("✦  Working… (work)").screen(work...)
}

func (s *story) call(command string) *story {
	return s.hook("BeforeTool", fmt.Sprintf(`"tool_name":"run_shell_command","tool_input":{"command":%q}`, command))
}

func (s *story) asks(command string) *story {
	return s.hook("Notification", fmt.Sprintf(`"notification_type":"ToolPermission","details":{"type":"exec","command":%q}`, command))
}

func (s *story) ran(command string) *story {
	return s.hook("AfterTool", fmt.Sprintf(`"tool_name":"run_shell_command","tool_input":{"command":%q}`, command))
}

// TestStories are turns that no recording has.
func TestStories(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(s *story)
		want string
	}{
		"two calls at once, each is asked about": {func(s *story) {
			s.begin(1000)
			s.at(1100).call("ls").call("pwd")
			s.at(1200).asks("ls").title("✋  Action Required (work)").screen(confirm("ls")...)
			s.at(3000).screen(confirm("pwd")...).ran("ls")
			s.at(3040).asks("pwd")
			s.at(5000).screen(work...).title("✦  Working… (work)").ran("pwd")
			s.at(6000).hook("AfterAgent", `"prompt":"go"`).title("◇  Ready (work)").screen(rest...)
		}, "1000 working, 1200 prompt ls, 3000 working, 3040 prompt pwd, 5000 working, 6100 idle"},
		"both are asked about before the first is answered": {func(s *story) {
			s.begin(1000)
			s.at(1100).call("ls").call("pwd")
			s.at(1200).asks("ls").asks("pwd").title("✋  Action Required (work)").screen(confirm("ls")...)
			s.at(3000).ran("ls").screen(confirm("pwd")...)
			s.at(5000).screen(rest...).title("◇  Ready (work)")
			s.at(9000)
		}, "1000 working, 1200 prompt ls, 3000 prompt pwd, 5100 idle"},
		"the same command twice": {func(s *story) {
			s.begin(1000)
			s.at(1100).call("ls").asks("ls").title("✋  Action Required (work)").screen(confirm("ls")...)
			s.at(2000).ran("ls").title("✦  Working… (work)").screen(work...)
			s.at(2100).hook("PreCompress", `"trigger":"auto"`)
			s.at(2500).call("ls").asks("ls").title("✋  Action Required (work)").screen(confirm("ls")...)
			s.at(9000)
		}, "1000 working, 1100 prompt ls, 2000 working, 2500 prompt ls"},
		"a command of another conversation": {func(s *story) {
			s.begin(1000)
			s.facts(gemini.Driver{}.Hook([]byte(`{"session_id":"nested","hook_event_name":"BeforeAgent","prompt":"x"}`)))
			s.facts(gemini.Driver{}.Hook([]byte(`{"session_id":"nested","hook_event_name":"AfterAgent","prompt":"x"}`)))
			s.at(9000)
		}, "1000 working"},
		"cleared": {func(s *story) {
			s.at(1000).hook("SessionEnd", `"reason":"clear"`)
			s.facts(gemini.Driver{}.Hook([]byte(`{"session_id":"d","hook_event_name":"SessionStart","source":"clear"}`)))
			s.at(2000).facts(gemini.Driver{}.Hook([]byte(`{"session_id":"d","hook_event_name":"BeforeAgent","prompt":"go"}`)))
		}, "2000 working"},
		"a limit, answered by keeping on": {func(s *story) {
			quota := box("Usage limit reached for x.", "/model to switch models.", "● 1. Keep trying", "  2. Stop")
			s.begin(1000)
			s.at(1500).screen(quota...)
			s.at(4000).screen(work...)
			s.at(6000).hook("AfterAgent", `"prompt":"go"`).title("◇  Ready (work)").screen(rest...)
			s.at(9000)
		}, "1000 working, 1650 prompt , 4200 working, 6100 idle"},
		"a loop, asked about when the turn has ended": {func(s *story) {
			loop := box("A potential loop was detected", "● 1. Keep loop detection enabled (esc)", "  2. Disable loop detection for this session")
			s.begin(1000)
			s.at(2000).hook("AfterAgent", `"prompt":"go"`).screen(loop...)
			s.at(2010).title("◇  Ready (work)")
			s.at(5000).title("✦  Working… (work)").screen(work...).hook("BeforeAgent", `"prompt":"go"`)
			s.at(6000).hook("AfterAgent", `"prompt":"go"`).title("◇  Ready (work)").screen(rest...)
			s.at(9000)
		}, "1000 working, 2150 prompt , 5000 working, 6100 idle"},
		"an error, a draft, and the next turn": {func(s *story) {
			bad := []string{upper, " > go", lower, "✕ [API Error: {\"error\":{\"code\":429}}]", "", "", "  ? for shortcuts", ruled, upper, hinted, lower, foot}
			s.begin(1000)
			s.at(2000).screen(bad...).hook("AfterAgent", `"prompt":"go"`).title("◇  Ready (work)")
			bad[len(bad)-3] = " > again¦"
			s.at(3000).screen(bad...)
			s.begin(4000)
			s.at(5000).hook("AfterAgent", `"prompt":"go"`).title("◇  Ready (work)").screen(rest...)
			s.at(9000)
		}, "1000 working, 2000 error rate_limited, 4000 working, 5100 idle"},
		"hooks a second late": {func(s *story) {
			s.at(1000).title("✦  Working… (work)").screen(work...)
			s.at(1500).title("✋  Action Required (work)").screen(confirm("ls")...)
			s.at(1990).late(990, "BeforeAgent", `"prompt":"go"`)
			s.at(2400).late(1400, "Notification", `"notification_type":"ToolPermission","details":{"type":"exec","command":"ls"}`)
			s.at(3000).title("◇  Ready (work)").screen(rest...)
			s.at(9000)
		}, "1050 working, 1650 prompt ls, 3100 idle"},
		"compressed by hand": {func(s *story) {
			s.at(1000).hook("PreCompress", `"trigger":"manual"`)
			s.at(9000)
		}, ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			s := tell(t)
			s.told = nil
			c.run(s)
			s.at(s.now + 200)
			if got := strings.Join(s.told, ", "); got != c.want {
				t.Errorf("told\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
