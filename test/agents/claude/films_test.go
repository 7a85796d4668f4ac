//go:build agents

package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/screens"
)

// The films of docs/screens are taken at the terminals of people who use Berth with real Claude Codes:
//
//	BERTH_PICTURES=$PWD/docs/screens go test -tags agents -run TestFilm ./test/agents/claude

// filmed starts a lab for a film. The composers of its sessions are ready.
func filmed(t *testing.T, size string, names ...string) *lab {
	if os.Getenv("BERTH_PICTURES") == "" {
		t.Skip("SKIPPED: films are taken where BERTH_PICTURES names a folder for them")
	}
	t.Parallel()
	l := prepare(t, Ready())
	check(t, l.Host.Start())
	check(t, os.WriteFile(filepath.Join(l.home.Workspace, "run-tests"), []byte("#!/bin/sh\necho 12 tests of $1: ok\n"), 0o700))
	for _, name := range names {
		l.start(name, nil, []string{"--size", size, "--size-policy", "writer"})
		l.with(name).Is("idle")
	}
	return l
}

func keep(t *testing.T, f *screens.Film, file string) {
	t.Helper()
	check(t, os.WriteFile(filepath.Join(os.Getenv("BERTH_PICTURES"), file), []byte(f.SVG()), 0o644))
}

// asksToRun has the model say something, ask to run a command, and end with a word.
func asksToRun(words, command, does, end string) modelapi.Scenario {
	return modelapi.Scenario{Name: "film", Steps: []modelapi.Step{
		modelapi.Say(modelapi.Text(words), modelapi.Tool("Bash", map[string]any{"command": command, "description": does})),
		modelapi.Say(modelapi.Text(end)),
	}}
}

// works has the model write, a few words at a time.
func works(text string, gap time.Duration) modelapi.Scenario {
	return modelapi.Scenario{Name: "film", Steps: []modelapi.Step{{Blocks: []modelapi.Block{modelapi.Text(text)}, Gap: gap}}}
}

// asked gives a session a message that the model answers like this.
func (l *lab) asked(name, message, state string, answer modelapi.Scenario) {
	l.T.Helper()
	l.API.Queue(answer)
	l.with(name).Nudge(message)
	l.with(name).Is(state)
}

// allows presses y at the card. A card whose options have just been read wants to be read again.
func (d desk) allows() {
	d.T.Helper()
	for d.answers("y allow", "y", "accepted, confirmed|read it"); !strings.Contains(d.Screen(), "confirmed"); {
		d.types("g")
		d.answers("y allow", "y", "accepted, confirmed|read it")
	}
}

var long = "I'll read the index first, then the ranking, and then write a test for each of the three cases that you named. " +
	"The index keeps a list of documents for each word, sorted by number, so two lists are merged in one pass. "

// TestFilmTour is the README's: the list, a card, an answer, an attached terminal.
func TestFilmTour(t *testing.T) {
	l := filmed(t, "100x28", "docs", "search", "web", "api")
	l.asked("docs", "Shorten the README", "idle", modelapi.Scenario{Name: "film", Steps: []modelapi.Step{modelapi.Say(modelapi.Text("The README has 80 lines now. I moved the reference to docs/options.md."))}})
	l.asked("search", "Explain the index", "working", works(long+long+long+long, 4*time.Second))
	l.asked("api", "Build it again", "prompt", asksToRun("The old build is in the way. I'll remove it and build again.", "rm -rf dist; echo built", "Remove the old build, and build", "Built: the new files are in dist."))
	l.asked("web", "Check the page", "prompt", asksToRun("I'll run the tests of the page.", "./run-tests page", "Run the page's tests", "All tests pass."))
	var f screens.Film
	d := l.dashboard(host.Window{Cols: 100, Rows: 28})
	d.shows("◆ api")
	d.shows("y allow")
	f.Take(4*time.Second, "ssh agents@host — sessions that wait for you come first, with what they ask", d.Picture())
	d.allows()
	f.Take(2500*time.Millisecond, "y allows it, and the agent confirms", d.Picture())
	l.with("api").Is("idle")
	d.types("\t")
	d.shows("y allow")
	f.Take(3*time.Second, "the next one that waits", d.Picture())
	d.types("\r")
	d.shows("^ Do you want to proceed")
	f.Take(3*time.Second, "Enter attaches: the agent's own terminal", d.Picture())
	d.types("1")
	d.shows("All tests pass")
	f.Take(2500*time.Millisecond, "you type, and everyone who is attached sees it", d.Picture())
	d.types("\x1dd")
	d.shows("○ web")
	f.Take(3*time.Second, "Ctrl-] d leaves it. The agents keep running", d.Picture())
	d.types("q")
	keep(t, &f, "tour.svg")
}

// TestFilmPhone answers from a phone.
func TestFilmPhone(t *testing.T) {
	l := filmed(t, "80x24", "docs", "api")
	l.asked("api", "Build it again", "prompt", asksToRun("The old build is in the way. I'll remove it and build again.", "rm -rf dist; echo built", "Remove the old build, and build", "Built: the new files are in dist."))
	var f screens.Film
	d := l.dashboard(host.Window{Cols: 44, Rows: 26})
	d.shows("◆ api")
	d.shows("y allow")
	f.Take(4*time.Second, "api waits: what it asks", d.Picture())
	d.allows()
	f.Take(3*time.Second, "y: allowed, confirmed by the agent", d.Picture())
	l.with("api").Is("idle")
	d.shows("○ api")
	f.Take(3*time.Second, "done; the phone may sleep", d.Picture())
	d.types("q")
	keep(t, &f, "answer-phone.svg")
}

// TestFilmTakeover: two people are attached, and control goes from one to the other.
func TestFilmTakeover(t *testing.T) {
	l := filmed(t, "64x20", "api")
	sit := func() desk {
		terminal, err := l.Host.Sit(host.Window{Cols: 64, Rows: 20}, "attach", "api")
		check(t, err)
		t.Cleanup(func() { check(t, terminal.Close()) })
		return desk{l, terminal}
	}
	ann, bob := sit(), sit()
	ann.shows("❯")
	bob.shows("❯")
	var f screens.Film
	ann.types("Add a test for")
	ann.shows("Add a test for")
	bob.shows("Add a test for")
	f.Take(3*time.Second, "two people share api's terminal; the left one types", ann.Picture(), bob.Picture())
	bob.types("x")
	bob.shows("is writing")
	f.Take(3500*time.Millisecond, "the right one types: it isn't sent, because another client has control", ann.Picture(), bob.Picture())
	bob.types("\x1dw")
	bob.shows("you are writing now")
	bob.types(" the login")
	bob.shows("for the login")
	ann.shows("for the login")
	f.Take(3500*time.Millisecond, "Ctrl-] w takes control, and what the right one types arrives", ann.Picture(), bob.Picture())
	l.API.Queue(modelapi.Scenario{Name: "film", Steps: []modelapi.Step{modelapi.Say(modelapi.Text("I'll add login_test.go with two cases."))}})
	bob.types("\r")
	bob.shows("two cases")
	ann.shows("two cases")
	f.Take(3*time.Second, "one writer at a time: no bytes of two people mix", ann.Picture(), bob.Picture())
	keep(t, &f, "takeover.svg")
}

// TestFilmKill kills the server while an agent works.
func TestFilmKill(t *testing.T) {
	l := filmed(t, "90x22", "search")
	l.asked("search", "Explain the index", "working", works(long+long+long, 300*time.Millisecond))
	sit := func() desk {
		terminal, err := l.Host.Sit(host.Window{Cols: 90, Rows: 22}, "attach", "search")
		check(t, err)
		t.Cleanup(func() { check(t, terminal.Close()) })
		return desk{l, terminal}
	}
	var f screens.Film
	d := sit()
	d.shows("read the index")
	f.Take(3*time.Second, "the agent works; you are attached", d.Picture())
	check(t, l.Host.Kill())
	d.shows("(?i)closed|broken|reset")
	f.Take(3*time.Second, "kill -9 of the server", d.Picture())
	check(t, l.Host.Start())
	d = sit()
	d.shows("read the index")
	f.Take(3*time.Second, "the server is back: so is the screen, and the agent never stopped", d.Picture())
	l.with("search").Is("idle")
	d.shows("❯")
	f.Take(3*time.Second, "its turn has ended, and it is idle", d.Picture())
	keep(t, &f, "kill.svg")
}
