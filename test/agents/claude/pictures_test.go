//go:build agents

package claude

import (
	"os"
	"path/filepath"
	"testing"

	"berth/test/agents/host"
	"berth/test/screens"
)

// TestPictures draws the pictures of docs/screens: the dashboard of several real
// Claude Codes, as a terminal shows it.
//
//	BERTH_PICTURES=$PWD/docs/screens go test -tags agents -run TestPictures ./test/agents/claude
func TestPictures(t *testing.T) {
	dir := os.Getenv("BERTH_PICTURES")
	if dir == "" {
		t.Skip("SKIPPED: pictures are drawn where BERTH_PICTURES names a folder for them; TestDashboard tests what they show")
	}
	l := newLabAs(t, "claude", Ready(), nil)
	check(t, os.WriteFile(filepath.Join(l.home.Workspace, "hello.txt"), []byte("hello\n"), 0o600))
	begin := func(name, message, state string, tags ...string) {
		var flags []string
		for _, tag := range tags {
			flags = append(flags, "--tag", tag)
		}
		l.start(name, nil, flags)
		s := l.with(name)
		s.Is("idle")
		if message != "" {
			s.Nudge(message)
		}
		s.Is(state)
	}
	l.Text("rename", "lab", "docs")
	l.with("docs").Is("idle")
	l.with("docs").Nudge("MOCK: long 60")
	l.with("docs").Is("idle")
	begin("billing", "MOCK: credit", "error", "prod")
	begin("search", "MOCK: slow 600", "working")
	begin("web-tests", "MOCK: ask-three", "prompt", "web")
	begin("api", "MOCK: bash rm -r dist", "prompt", "web", "prod")

	draw := func(d desk, file string, light bool) {
		t.Helper()
		check(t, os.WriteFile(filepath.Join(dir, file), []byte(screens.SVG(d.Picture(), light)), 0o644))
	}
	for _, light := range []bool{false, true} {
		d := l.dashboard(host.Window{Cols: 120, Rows: 30, Light: light})
		d.shows("◆ api")
		d.types("j")
		d.shows("1  Yes")
		d.shows("❯ 1. Yes")
		draw(d, map[bool]string{false: "list.svg", true: "list-light.svg"}[light], light)
		d.types("q")
	}
	d := l.dashboard(host.Window{Cols: 80, Rows: 24})
	d.shows("◆ api")
	d.types("j")
	d.shows("1  Yes")
	draw(d, "card.svg", false)
	d.types("?")
	d.shows("choose a session; the first")
	draw(d, "help.svg", false)
	d.types("x")
	d.shows("1  Yes")
	d.types("/docs\r")
	d.shows("○ docs")
	d.types("h")
	d.shows("Scrollback of docs")
	draw(d, "history.svg", false)
	d.types("qq")
	phone := l.dashboard(host.Window{Cols: 40, Rows: 12})
	phone.shows("◆ api")
	phone.types("j\r")
	phone.shows("Bash permission")
	draw(phone, "phone.svg", false)
	phone.types("q")
}
