package e2e

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"berth/terminal"
)

// mouseForms are what terminals send for a button that is pressed and let go at a cell: xterm and most
// others with SGR, phones' clients also with X10 coordinates or as urxvt does.
var mouseForms = map[string]func(x, y int) string{
	"sgr":   func(x, y int) string { return fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x, y, x, y) },
	"x10":   func(x, y int) string { return fmt.Sprintf("\x1b[M %c%c\x1b[M#%c%c", 32+x, 32+y, 32+x, 32+y) },
	"urxvt": func(x, y int) string { return fmt.Sprintf("\x1b[32;%d;%dM\x1b[35;%d;%dM", x, y, x, y) },
	"shift": func(x, y int) string { return fmt.Sprintf("\x1b[<4;%d;%dM\x1b[<4;%d;%dm", x, y, x, y) },
	"wheel": func(x, y int) string { return fmt.Sprintf("\x1b[<65;%d;%dM", x, y) },
}

// click is what a person does with the mouse, or a finger, at a terminal: click NAME [-FORM] [-twice] TEXT.
// It waits for the text, and sends the bytes of a click on its last occurrence. -wheel turns the wheel
// there.
func click(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: click NAME [-FORM] [-twice] TEXT")
	}
	s, name, text := stageOf(ts), args[0], args[len(args)-1]
	form, times := mouseForms["sgr"], 1
	for _, option := range args[1 : len(args)-1] {
		if option == "-twice" {
			times = 2
		} else if form = mouseForms[strings.TrimPrefix(option, "-")]; form == nil {
			ts.Fatalf("there is no form %s", option)
		}
	}
	x, y := 0, 0
	poll(ts, func() (bool, string) {
		out, err := s.tmux("capture-pane", "-p", "-t", name)
		for i, row := range slices.Backward(strings.Split(out, "\n")) {
			if at := strings.LastIndex(row, text); at >= 0 && err == nil {
				x, y = terminal.StringWidth(row[:at])+1, i+1
				return true, ""
			}
		}
		return false, out
	})
	s.send(ts, name, strings.Repeat(form(x, y), times))
}
