package drivers_test

import (
	"archive/zip"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/drivers"
	"berth/detect"
	"berth/detect/replay"
)

// seer keeps each screen with another dialog that has room.
type seer struct {
	agent.Driver
	seen  map[string]bool
	views *[]*agent.View
}

func (s seer) Screen(v *agent.View) *agent.Reading {
	r := s.Driver.Screen(v)
	if d := r.Dialog; d != nil && !d.Partial && !d.Cut && !s.seen[strings.Join(d.Lines, "\n")] {
		s.seen[strings.Join(d.Lines, "\n")] = true
		own := *v
		own.Lines = slices.Clone(v.Lines)
		*s.views = append(*s.views, &own)
	}
	return r
}

// recorded are the screens with dialogs in the agent's recordings, at most about that many.
func recorded(t *testing.T, d agent.Driver, most int) (some []*agent.View) {
	t.Helper()
	files, err := filepath.Glob("../" + d.Name() + "/testdata/*.zip")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings of %s: %v", d.Name(), err)
	}
	s := seer{d, map[string]bool{}, &[]*agent.View{}}
	for _, file := range files {
		z, err := zip.OpenReader(file)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, one := range z.File {
			if strings.HasSuffix(one.Name, ".cast") {
				rec, err := replay.Load(z, one.Name)
				if err != nil {
					t.Fatal(err)
				}
				replay.Run(rec, s, replay.Options{})
			}
		}
	}
	for i := 0; i < len(*s.views); i += max(1, len(*s.views)/most) {
		some = append(some, (*s.views)[i])
	}
	return some
}

// shownAfter is the prompt after these screens. Each stays for some seconds. With a key, one is pressed after
// the first.
func shownAfter(d agent.Driver, key bool, readings ...*agent.Reading) *agent.Request {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fold := detect.New(d, detect.Options{Start: now, Dir: "/w"})
	for i, r := range readings {
		now = now.Add(100 * time.Millisecond)
		fold.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: now})
		for range 6 {
			now = now.Add(600 * time.Millisecond)
			fold.Tick(now)
		}
		if key && i == 0 {
			fold.Typed(now)
		}
	}
	return fold.Status().Request
}

// asks is all that a prompt shows.
func asks(p *agent.Request) string {
	all, err := json.Marshal([]any{p.Type, p.Subtype, p.Agent, p.Tool, p.Title, p.FullInput, p.Text, p.URL, p.Options, p.Questions, p.InPart()})
	if err != nil {
		return err.Error()
	}
	return string(all)
}

// ownRows are rows of Claude Code's own, in whose place a person's words may be.
var ownRows = []string{"Type something", "Chat about this"}

// TestChangedDialogs: a dialog that differs from the one before it in one letter, anywhere, is shown as it is, with and
// without a key in between, and also at another size. The pages of several questions are one prompt.
func TestChangedDialogs(t *testing.T) {
	changes := 0
	for name, d := range drivers.ByName() {
		if name == "generic" {
			continue // its dialogs are those of its rules
		}
		for _, v := range recorded(t, d, 10) {
			first := d.Screen(v)
			if len(first.Dialog.Tabs) > 1 {
				continue
			}
			for row, line := range v.Lines {
				at := strings.IndexFunc(line.Text, func(r rune) bool { return r >= 'a' && r < 'x' })
				if at < 0 || slices.ContainsFunc(ownRows, func(own string) bool { return strings.Contains(line.Text, own) }) {
					continue
				}
				for _, at := range []int{at, at + len(strings.TrimRight(line.Text[at:], " │┃█"))/2} {
					if line.Text[at] < 'a' || line.Text[at] >= 'x' {
						continue
					}
					for cols := v.Cols - 1; cols <= v.Cols; cols++ {
						changed := *v
						changed.Cols, changed.Lines = cols, slices.Clone(v.Lines)
						changed.Lines[row].Text = line.Text[:at] + "x" + line.Text[at+1:]
						next := d.Screen(&changed)
						if next.Dialog == nil || next.Dialog.Partial || next.Dialog.Cut {
							continue
						}
						alone := shownAfter(d, false, next)
						for _, key := range []bool{false, true} {
							after := shownAfter(d, key, first, next)
							if changes++; (after == nil) != (alone == nil) || alone != nil && asks(after) != asks(alone) {
								t.Errorf("%s, with a key: %v, at %d columns: with %q it asks %+v\ninstead of %+v", name, key, cols, changed.Lines[row].Text, after, alone)
							}
						}
					}
				}
			}
		}
	}
	if changes < 2000 {
		t.Errorf("only %d changes", changes)
	}
	t.Logf("%d changes", changes)
}
