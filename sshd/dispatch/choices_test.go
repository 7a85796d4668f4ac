package dispatch

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"berth/commands"
	"berth/keys"
	"berth/tui"
)

// What people set is there for the next server. Defaults take no room, and of too many persons those are
// forgotten who changed something the longest time ago.
func TestChoices(t *testing.T) {
	file, log := filepath.Join(t.TempDir(), "choices.json"), slog.New(slog.DiscardHandler)
	c := LoadChoices(file, log)
	c.change("ann", func(p *chosen) { p.StatusLine = true })
	c.change("ben", func(p *chosen) { p.Dashboard = tui.Choices{NoMouse: true, By: 2} })
	c.change("cas", func(p *chosen) { p.Dashboard.Advance = true })
	c.change("cas", func(p *chosen) { p.Dashboard.Advance = false })
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"person":"ann","status_line":true,"dashboard":{"by":"state"}},{"person":"ben","dashboard":{"no_mouse":true,"by":"tag"}}]` + "\n"
	if string(data) != want {
		t.Errorf("the file has %swant %s", data, want)
	}
	c = LoadChoices(file, log)
	if p := c.of("ben").Dashboard; p != (tui.Choices{NoMouse: true, By: 2}) || !c.of("ann").StatusLine || c.of("cas").Dashboard.Advance {
		t.Errorf("the next server has %+v", c.list)
	}
	for i := range choicesKept - 1 {
		c.list = append(c.list, chosen{Person: fmt.Sprint(i), StatusLine: true}) // as changes do
	}
	c.change("ann", func(p *chosen) { p.Dashboard.NoMouse = true })
	if c = LoadChoices(file, log); len(c.list) != choicesKept || !c.of("ann").StatusLine || c.of("ben").Dashboard.NoMouse {
		t.Errorf("%d are left, ann has %+v and ben %+v", len(c.list), c.of("ann"), c.of("ben"))
	}
}

// A file that can't be read gives the defaults and a warning, and the next change replaces it.
func TestChoicesUnreadable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "choices.json")
	var logged bytes.Buffer
	if err := os.WriteFile(file, []byte(`[{"person":"ann","status_line":true},{"per`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := LoadChoices(file, slog.New(slog.NewTextHandler(&logged, nil)))
	if c.of("ann").StatusLine || !bytes.Contains(logged.Bytes(), []byte("cannot be read")) {
		t.Errorf("ann has %+v; logged %s", c.of("ann"), &logged)
	}
	c.change("ann", func(p *chosen) { p.StatusLine = true })
	if c = LoadChoices(file, slog.New(slog.DiscardHandler)); !c.of("ann").StatusLine {
		t.Error("the change isn't in the file")
	}
}

// TestChoicesOfTwoDashboards: a person has two dashboards open, and each changes another setting. Both are kept.
func TestChoicesOfTwoDashboards(t *testing.T) {
	d := &Dispatcher{Choices: LoadChoices(filepath.Join(t.TempDir(), "choices.json"), slog.New(slog.DiscardHandler))}
	ann := commands.Request{Identity: func() keys.Identity { return keys.Identity{Name: "ann"} }}
	one, other := host{d: d, request: ann}, host{d: d, request: ann}
	was := one.Choices()
	one.SetChoices(was, tui.Choices{NoMouse: true})
	other.SetChoices(was, tui.Choices{By: 1})
	if got := one.Choices(); got != (tui.Choices{NoMouse: true, By: 1}) {
		t.Errorf("%+v", got)
	}
}
