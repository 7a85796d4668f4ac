package gemini_test

import (
	"fmt"
	"strings"
	"testing"
)

// shownCall is a call of a tool whose dialog names no tool: its report, its dialog, and what the dialog leaves out of it.
type shownCall struct {
	tool, input, plain, line string
	asks                     func(s *story, input string) *story
	dialog                   []string
}

func unnamedCalls() (all []shownCall) {
	for _, tool := range []string{serverTool, foundTool} {
		asks := func(s *story, input string) *story { return s.asksOutside(tool, input) }
		all = append(all, shownCall{tool, hiddenCall, plainCall, hiddenLine, asks, outside(tool, plainCall)})
	}
	asks := func(s *story, _ string) *story { return s.asksToFetch("Fetch " + goodPage) }
	return append(all, shownCall{"web_fetch", fetched, `{"url":"` + goodPage + `"}`, fetchedLines, asks, fetching("Fetch "+goodPage, goodPage)})
}

// TestUnnamedCallReportedOver: another process reports that the true call is over, and a call that is drawn the same. The prompt's text
// names the true call too, or no key answers it.
func TestUnnamedCallReportedOver(t *testing.T) {
	over := func(s *story, c shownCall) *story { return s.hook("AfterTool", calls(c.tool, c.input)) }
	step := func(s *story, _ shownCall) *story { return s.hook("PreCompress", `"trigger":"auto"`) }
	other := func(s *story, c shownCall) *story { return s.hook("BeforeTool", calls(c.tool, c.plain)) }
	again := func(s *story, c shownCall) *story { return c.asks(s, c.plain) }
	asked := func(s *story, c shownCall) *story { return c.asks(s, c.input) }
	drawn := func(s *story, c shownCall) *story { return s.screen(c.dialog...).at(s.now + 500) }
	cover := func(s *story, _ shownCall) *story { return s.screen(work...).at(s.now + 500) }
	turn := func(s *story, _ shownCall) *story {
		return s.hook("AfterAgent", `"prompt":"x","prompt_response":"y"`).begin(s.now + 10)
	}
	many := func(s *story, c shownCall) *story {
		for i := range 300 {
			call := calls(c.tool, fmt.Sprintf(`{"url":"https://docs.example.com/%d","prompt":"a\nb"}`, i))
			s.hook("BeforeTool", call).hook("AfterTool", call)
		}
		return s
	}
	for name, acts := range map[string][]func(*story, shownCall) *story{
		"it has ended":                  {over, other, asked, drawn},
		"its step":                      {step, other, asked, drawn},
		"its turn":                      {turn, other, asked, drawn},
		"it has ended, alone":           {over, asked, drawn},
		"before it":                     {other, over, asked, drawn},
		"after its report":              {asked, over, other, again, drawn},
		"after its dialog":              {asked, drawn, over, other, again},
		"after its dialog, by its step": {asked, drawn, step, other, again, drawn},
		"its dialog was covered":        {asked, drawn, step, cover, other, again, drawn},
		"among many":                    {over, many, other, asked, drawn},
	} {
		for _, c := range unnamedCalls() {
			s := tell(t)
			s.begin(1000).at(1100).hook("BeforeTool", calls(c.tool, c.input))
			for _, act := range acts {
				act(s.at(s.now+60), c)
			}
			s.at(s.now + 5000)
			for _, p := range s.fold.Status().Requests {
				names := strings.Contains(text(p.Text), c.line) || strings.Contains(text(p.Text), "that Berth had no room to keep")
				if s.keyed(p.ID) && !names {
					t.Errorf("%s, %s: a key answers %q", c.tool, name, text(p.Text))
				}
			}
		}
	}
}

// TestUnnamedCallsInARow: a key answers the next call of such a tool, with what its dialog leaves out and with nothing of calls that are drawn
// otherwise, also after hundreds of calls, and a call that is tried again.
func TestUnnamedCallsInARow(t *testing.T) {
	for _, c := range unnamedCalls() {
		for name, before := range map[string][]string{
			"the first":   {},
			"tried again": {c.input},
			"another":     {`{"url":"https://docs.example.com/other","prompt":"a\nb"}`},
		} {
			for _, many := range []int{1, 300} {
				s := tell(t)
				s.begin(1000).at(1100)
				for i := range many {
					for _, input := range before {
						call := calls(c.tool, strings.ReplaceAll(input, "other", fmt.Sprint("other", i)))
						s.hook("BeforeTool", call).at(s.now+2).hook("AfterTool", call).at(s.now + 2)
					}
				}
				s.hook("PreCompress", `"trigger":"auto"`).at(s.now+100).hook("BeforeTool", calls(c.tool, c.input))
				c.asks(s.at(s.now+100), c.input).screen(c.dialog...).at(s.now + 3000)
				p := s.fold.Status().Request
				if p == nil || !strings.HasSuffix(text(p.Text), c.line) && many == 1 || !strings.Contains(text(p.Text), c.line) || !s.keyed(p.ID) {
					t.Errorf("%s after %s, %d times: it asks %+v\n%s", c.tool, name, many, p, text(p.Text))
				}
			}
		}
	}
}
