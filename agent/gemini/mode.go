package gemini

import (
	"strings"

	"berth/agent/pattern"
)

// modeRow matches the row between the rule and the composer, which shows the approval mode, or without a
// word for it how to leave it.
var modeRow = pattern.New(`^(auto-accept edits|plan|YOLO)?(?:^| )(?:Shift\+Tab to (?:accept edits|plan|manual)|Ctrl\+Y)`)

// modeWords are the modes as the option --approval-mode names them, by the row's words.
var modeWords = map[string]string{"": "default", "auto-accept edits": "auto_edit", "plan": "plan", "YOLO": "yolo"}

// mode is the approval mode in the rows between the rule and the composer; empty if they show none.
func (s *screen) mode(from, to int) string {
	for i := from; i <= to; i++ {
		if m := modeRow.FindStringSubmatch(strings.TrimSpace(s.text(i))); m != nil {
			return modeWords[m[1]]
		}
	}
	return ""
}
