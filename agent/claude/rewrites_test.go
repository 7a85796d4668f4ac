package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// asksToEdit is the dialog of an edit of a.sh with these rows of the change.
func asksToEdit(rows ...string) *agent.Reading {
	dashes := strings.Repeat("╌", 80)
	all := append([]string{strings.Repeat("─", 80), " Edit file", " a.sh", dashes}, rows...)
	return draw(80, 40, strings.Join(append(all, dashes, " Do you want to make this edit to a.sh?", " ❯ 1. Yes",
		"   2. Yes, allow all edits during this session (shift+tab)", "   3. No", "", " Esc to cancel · Tab to amend"), "\n"))
}

// promptOf is the prompt of an edit with that input, which is also on the screen: by its hook, or by keys.
func promptOf(t *testing.T, keys bool, input string, drawn *agent.Reading) *agent.Request {
	t.Helper()
	s := newForgery(t)
	if keys {
		s = newLogged(t)
		s.logsCalls([]string{"Edit", input})
	} else {
		s.asks("Edit", input, "7")
	}
	s.show(drawn)
	s.pass(2 * time.Second)
	all := s.f.Status().Requests
	if len(all) != 1 || !all[0].OnScreen || !keys && all[0].Channel != agent.ChannelHook || keys && !s.keyed(all[0].ID, drawn.Dialog) {
		t.Errorf("%s, keys %v: it asks %d, the first %+v", input, keys, len(all), all[0])
	}
	return all[0]
}

// TestRemovedTextJoinsLines: where a line ends with a text that an edit removes, Claude removes the line's end too. Neither the hook nor
// the dialog says so.
func TestRemovedTextJoinsLines(t *testing.T) {
	const one = "Where a line ends with the removed text, Claude removes the line's end too: the next line joins this one."
	const all = "If a line ends with the removed text, Claude removes it only there, and the line's end with it: the next line joins this one."
	shown := asksToEdit(" 1  #!/bin/bash", " 2 -# signed (TODO)", " 2 +# signed", " 3  exit 1")
	whole := asksToEdit(" 1  #!/bin/bash", " 2 -# signed (TODO)", " 3  exit 1")
	more := asksToEdit(" 1  #!/bin/bash", " 2 -# signed (TODO)", " 2 +# signed (DONE)", " 3  exit 1")
	for _, c := range []struct {
		texts, want string
		drawn       *agent.Reading
	}{
		{`"old_string":" (TODO)","new_string":"","replace_all":false`, one, shown},
		{`"old_string":" (TODO)","new_string":"","replace_all":true`, all, shown},
		{`"old_string":"# signed (TODO)\n","new_string":"","replace_all":false`, "", whole},
		{`"old_string":"TODO","new_string":"DONE","replace_all":false`, "", more},
	} {
		for _, keys := range []bool{false, true} {
			text := text(promptOf(t, keys, `{"file_path":"/w/a.sh",`+c.texts+`}`, c.drawn).Text)
			if !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "removed text") {
				t.Errorf("%s, keys %v: it says %q", c.texts, keys, text)
			}
		}
	}
}
