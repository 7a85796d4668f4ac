package gemini_test

import "testing"

func TestApprovalMode(t *testing.T) {
	for row, want := range map[string]string{
		" Shift+Tab to accept edits":             "default",
		" auto-accept edits Shift+Tab to plan":   "auto_edit",
		" auto-accept edits Shift+Tab to manual": "auto_edit",
		" plan Shift+Tab to manual":              "plan",
		" YOLO Ctrl+Y":                           "yolo",
		" shell mode enabled (esc to disable)":   "",
		" plan":                                  "",
		"":                                       "",
	} {
		r := draw("✦ YOLO Ctrl+Y", " plan Shift+Tab to manual", "", "  ? for shortcuts", ruled, row, upper, hinted, lower, foot)
		if r.Composer == nil || r.Mode != want {
			t.Errorf("%q shows %q, want %q (%+v)", row, r.Mode, want, r.Composer)
		}
	}
}
