package qwen_test

import (
	"strings"

	"berth/agent"
	"berth/agent/qwen"
	"berth/detect"
	"berth/terminal"
)

// draw is the reading of a screen with these rows.
func draw(cols, rows int, screen string) *agent.Reading {
	e := terminal.New(terminal.Options{Cols: cols, Rows: rows})
	_, _ = e.Write([]byte(strings.ReplaceAll(screen, "\n", "\r\n")))
	var w detect.Viewer
	return qwen.Driver{}.Screen(w.View(e.Snapshot(0)))
}
