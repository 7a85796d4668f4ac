package tui

import (
	"strconv"
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"berth/agent"
	"berth/terminal"
	"berth/terminal/paint"
)

// theme is how things look on one terminal.
type theme struct {
	depth  paint.Depth
	light  bool
	ascii  bool
	styles [tones]terminal.Style // of each tone, as cells have it
}

// tone is what a text is, by which it has its colour.
type tone int

const (
	plain tone = iota
	faint
	strong
	accent
	waits
	failed
	works
	rests
	over
	tones // how many there are
)

// colours of the tones: of the 256 palette on a dark and on a light background, and one of the
// sixteen for terminals that know no more.
var colours = map[tone]struct{ dark, light, basic string }{
	faint:  {"245", "243", "8"},
	accent: {"111", "25", "4"},
	waits:  {"214", "130", "3"},
	failed: {"203", "160", "1"},
	works:  {"81", "31", "6"},
	rests:  {"114", "28", "2"},
	over:   {"245", "243", "8"},
}

// profiles are colorprofile's names of the depths.
var profiles = map[paint.Depth]colorprofile.Profile{
	paint.DepthNone: colorprofile.ASCII, paint.Depth16: colorprofile.ANSI, paint.Depth256: colorprofile.ANSI256, paint.DepthTrue: colorprofile.TrueColor,
}

func newTheme(l paint.Look, light bool) theme {
	t := theme{depth: l.Depth, light: light, ascii: !l.UTF8}
	for of := range tones {
		s := t.lipgloss(of)
		t.styles[of].Fg = cellColor(s.GetForeground())
		if s.GetBold() {
			t.styles[of].Attr = terminal.Bold
		}
	}
	return t
}

// lipgloss is a tone as bubbles take it.
func (t theme) lipgloss(of tone) lipgloss.Style {
	s := lipgloss.NewStyle().Bold(of == strong || of == waits || of == failed || of == accent)
	if c, ok := colours[of]; ok {
		on := lipgloss.LightDark(!t.light)(lipgloss.Color(c.light), lipgloss.Color(c.dark))
		s = s.Foreground(lipgloss.Complete(profiles[t.depth])(lipgloss.Color(c.basic), on, on))
	}
	return s
}

// help is the bubble that shows keys and what they do.
func (t theme) help() help.Model {
	m := help.Model{ShortSeparator: "  "}
	m.Styles.ShortKey, m.Styles.ShortDesc = t.lipgloss(accent), t.lipgloss(faint)
	return m
}

// style is a tone as cells have it.
func (t theme) style(of tone) terminal.Style { return t.styles[of] }

// selected is a style as it is on the row that is selected.
func (t theme) selected(s terminal.Style) terminal.Style {
	switch {
	case t.depth < paint.Depth256:
		return terminal.Style{Attr: terminal.Reverse | s.Attr&terminal.Bold}
	case t.light:
		s.Bg = terminal.Palette(254)
	default:
		s.Bg = terminal.Palette(237)
	}
	return s
}

// key is how a key is written in hints.
func (t theme) key() terminal.Style { return t.style(accent) }

type look struct {
	icon, ascii string
	tone        tone
}

// Each state has a sign of its own, so that it is known without colours too.
var looks = map[agent.State]look{
	agent.Prompt:     {"◆", "!", waits},
	agent.InError:    {"✗", "x", failed},
	agent.Working:    {"●", "*", works},
	agent.Starting:   {"◌", "~", works},
	agent.Restarting: {"◌", "~", works},
	agent.Idle:       {"○", "o", rests},
	agent.Unknown:    {"·", ".", over},
	agent.Exited:     {"□", "-", over},
}

func lookOf(s agent.State) look {
	if l, ok := looks[s]; ok {
		return l
	}
	return looks[agent.Unknown]
}

func (t theme) icon(s agent.State) string {
	if t.ascii {
		return lookOf(s).ascii
	}
	return lookOf(s).icon
}

// isLight reads a terminal's answer to which background it has: OSC 11 with
// rgb:RRRR/GGGG/BBBB, of one to four digits each.
func isLight(reply string) (light, ok bool) {
	value, ok := strings.CutPrefix(reply, "]11;rgb:")
	if !ok {
		return false, false
	}
	var sum float64
	parts := strings.Split(value, "/")
	if len(parts) != 3 {
		return false, false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) == 0 || len(p) > 4 {
			return false, false
		}
		most := float64(uint64(1)<<(4*len(p)) - 1)
		sum += float64(n) / most * []float64{0.299, 0.587, 0.114}[i] // how bright the eye finds each
	}
	return sum > 0.5, true
}
