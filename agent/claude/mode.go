package claude

import "berth/agent/pattern"

// modeInFooter matches the permission mode at the start of a footer's row. Its mark is Claude's own: a
// user's status line above it may have any words. 2.1.197 shows no mode when it asks for everything, and
// its hint for shortcuts then has that place.
var modeInFooter = pattern.New(`(?m)^(?:(?:⏵⏵|⏸) (manual mode|plan mode|accept edits|bypass permissions|don't ask|auto mode) on\b|\? for shortcuts)`)

// modeWords are the modes as hooks and the option --permission-mode name them, by the footer's words.
var modeWords = map[string]string{
	"":                   "default",
	"manual mode":        "default",
	"plan mode":          "plan",
	"accept edits":       "acceptEdits",
	"bypass permissions": "bypassPermissions",
	"don't ask":          "dontAsk",
	"auto mode":          "auto",
}

// footerMode is the permission mode that the footer shows; empty if it shows none.
func footerMode(footer string) string {
	m := modeInFooter.FindStringSubmatch(footer)
	if m == nil {
		return ""
	}
	return modeWords[m[1]]
}
