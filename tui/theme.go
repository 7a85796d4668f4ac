package tui

import (
	"strconv"
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"berth/agent"
	"berth/render"
	"berth/terminal"
	"berth/terminal/paint"
)

// theme is the styles for one terminal.
type theme struct {
	depth  paint.Depth
	light  bool
	ascii  bool
	styles [tones]terminal.Style // the style of each tone, for cells
}

// tone is the role of a text. It decides the text's colour.
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
	edge
	added
	removed
	quoted
	operator
	tones // how many there are
)

// colours are the tones' colours on a dark and on a light background: of all colours, and of the 16 that
// the terminal defines itself. A terminal with 256 colours gets the nearest ones. Many terminals draw
// green, yellow and cyan of the 16 illegibly on white, blue on black, and grey on both. TestContrast
// measures them.
var colours = map[tone]struct{ dark, light, basicDark, basicLight string }{
	faint:  {"#8a97ab", "#5b6678", "", ""},
	accent: {"#6cb6ff", "#0a5fc2", "14", "4"},
	waits:  {"#ffb454", "#8a5a00", "11", "5"},
	failed: {"#ff7a7a", "#c4242b", "9", "1"},
	works:  {"#5ad4e6", "#00607f", "6", "4"},
	rests:  {"#8fd481", "#0a650a", "2", ""},
	over:   {"#8a97ab", "#5b6678", "", ""},
	edge:   {"#46566e", "#b3bfd0", "8", "8"}, // frames and lines

	added:    {"#8fd481", "#0a650a", "2", "4"},
	removed:  {"#ff7a7a", "#c4242b", "9", "1"},
	quoted:   {"#e6d58a", "#7f5c00", "3", "4"},
	operator: {"#d3a0f0", "#8700af", "13", "5"},
}

// grounds are the backgrounds of the selected row and of the badge, and the badge's text.
var grounds = struct{ selected, badge, onBadge struct{ dark, light string } }{
	selected: struct{ dark, light string }{"#26364f", "#e6eefb"},
	badge:    struct{ dark, light string }{"#6cb6ff", "#0a5fc2"},
	onBadge:  struct{ dark, light string }{"#0c1a2b", "#ffffff"},
}

// toneOf are the tones of what package render lays out.
var toneOf = map[render.Tone]tone{
	render.Plain: plain, render.Faint: faint, render.Strong: strong, render.Accent: accent, render.Added: added,
	render.Removed: removed, render.Quoted: quoted, render.Operator: operator, render.Warning: waits,
}

// profiles are the depths as colorprofile names them.
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

// lipgloss is a tone's style for lipgloss.
func (t theme) lipgloss(of tone) lipgloss.Style {
	s := lipgloss.NewStyle().Bold(of == strong || of == waits || of == failed || of == accent)
	if c, ok := colours[of]; ok {
		is := lipgloss.LightDark(!t.light)
		on, basic := is(lipgloss.Color(c.light), lipgloss.Color(c.dark)), is(lipgloss.Color(c.basicLight), lipgloss.Color(c.basicDark))
		s = s.Foreground(lipgloss.Complete(profiles[t.depth])(basic, on, on))
	}
	return s
}

// help is the bubble that draws key hints.
func (t theme) help() help.Model {
	m := help.Model{ShortSeparator: "  "}
	m.Styles.ShortKey, m.Styles.ShortDesc = t.lipgloss(accent), t.lipgloss(faint)
	return m
}

// style is a tone's style for cells.
func (t theme) style(of tone) terminal.Style { return t.styles[of] }

// on is a colour for the terminal's background.
func (t theme) on(c struct{ dark, light string }) terminal.Color {
	return cellColor(lipgloss.LightDark(!t.light)(lipgloss.Color(c.light), lipgloss.Color(c.dark)))
}

// selected is a style on the selected row.
func (t theme) selected(s terminal.Style) terminal.Style {
	if t.depth < paint.Depth256 {
		return terminal.Style{Attr: terminal.Reverse | s.Attr&terminal.Bold}
	}
	s.Bg = t.on(grounds.selected)
	return s
}

// badge is the style of Berth's mark in the corner.
func (t theme) badge() terminal.Style {
	if t.depth < paint.Depth256 {
		return terminal.Style{Fg: t.style(accent).Fg, Attr: terminal.Reverse | terminal.Bold}
	}
	return terminal.Style{Fg: t.on(grounds.onBadge), Bg: t.on(grounds.badge), Attr: terminal.Bold}
}

// key is the style of a key in hints.
func (t theme) key() terminal.Style { return t.style(accent) }

type look struct {
	icon, ascii string
	tone        tone
}

// looks are the icons and tones of the states. Each state has an icon of its own, so that it can be
// recognized without colours.
var looks = map[agent.State]look{
	agent.Prompt:     {"◆", "!", waits},
	agent.InError:    {"✗", "x", failed},
	agent.Working:    {"●", "*", works},
	agent.Starting:   {"◌", "~", works},
	agent.Restarting: {"◌", "~", works},
	agent.Parked:     {"◷", "z", rests},
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

// isLight parses a terminal's reply about its background: OSC 11 with rgb:RRRR/GGGG/BBBB, one to four
// digits each.
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
		sum += float64(n) / most * []float64{0.299, 0.587, 0.114}[i] // the luminance of each
	}
	return sum > 0.5, true
}
