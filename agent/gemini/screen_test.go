package gemini_test

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect"
	"berth/terminal"
	"berth/test/agents/truth"
)

// look is the reading of a screen at a moment.
type look struct {
	at      time.Duration
	reading *agent.Reading
}

// looks reads the screen of a recording as often as it is looked at live.
func looks(t testing.TB, ref *truth.Reference, name string) []look {
	t.Helper()
	data, err := fs.ReadFile(ref, "recordings/"+name+".cast")
	if err != nil {
		t.Fatal(err)
	}
	var term *terminal.Terminal
	var viewer detect.Viewer
	var all []look
	readAt := time.Duration(-1)
	read := func(now time.Duration) {
		if readAt >= 0 && now >= readAt {
			all = append(all, look{readAt, gemini.Driver{}.Screen(viewer.View(term.Snapshot(0)))})
			readAt = -1
		}
	}
	for line := range strings.Lines(string(data)) {
		if term == nil {
			var h struct{ Width, Height int }
			if err := json.Unmarshal([]byte(line), &h); err != nil {
				t.Fatal(err)
			}
			term = terminal.New(terminal.Options{Cols: h.Width, Rows: h.Height})
			continue
		}
		var at float64
		var kind, text string
		if err := json.Unmarshal([]byte(line), &[]any{&at, &kind, &text}); err != nil {
			t.Fatal(err)
		}
		now := time.Duration(at * float64(time.Second))
		read(now)
		if kind != "o" {
			continue
		}
		_, _ = term.Write([]byte(text))
		if readAt < 0 {
			readAt = now + 25*time.Millisecond
		}
	}
	read(1 << 62)
	return all
}

// TestEveryLook: from the first composer to the end, a screen shows the composer or a
// dialog. A screen with neither is a half-painted frame.
func TestEveryLook(t *testing.T) {
	ref := reference(t)
	total, composers, dialogs, neither := 0, 0, 0, 0
	for _, name := range ref.Names(t) {
		all := ref.Truth(t, name)
		ready, end := false, 1e9
		for _, w := range all {
			if w.State == string(agent.Exited) {
				end = w.Window[0]
			}
		}
		for _, l := range looks(t, ref, name) {
			at := l.at.Seconds()
			if ready = ready || l.reading.Composer != nil; !ready || at > end {
				continue
			}
			total++
			switch {
			case l.reading.Composer != nil:
				composers++
				if !l.reading.Composer.Focused {
					t.Errorf("%s %.3f: a composer without its caret: %+v", name, at, l.reading.Composer)
				}
			case l.reading.Dialog != nil:
				dialogs++
			default:
				neither++
				t.Logf("%s %.3f: neither", name, at)
			}
		}
	}
	t.Logf("%d looks, %d composers, %d dialogs, %d neither", total, composers, dialogs, neither)
	if composers < 850 || dialogs < 25 || neither*50 > total {
		t.Errorf("%d looks, %d composers, %d dialogs, %d neither", total, composers, dialogs, neither)
	}
}

// TestBeforeItsConfiguration: while nothing is drawn above the status line, Gemini holds its
// input back, so there is no composer. A composer that fills the screen counts as one.
func TestBeforeItsConfiguration(t *testing.T) {
	below := []string{"  ? for shortcuts", ruled, " Shift+Tab to accept edits", upper, hinted, lower, foot}
	if r := draw(append([]string{"", ""}, below...)...); r.Composer != nil || r.Dialog != nil {
		t.Errorf("it is not ready: %+v", r)
	}
	if r := draw(append([]string{"", " ▝▜▄     Gemini CLI v0.61.0", "", ""}, below...)...); r.Composer == nil {
		t.Errorf("it is ready: %+v", r)
	}
	if r := draw(below[1:]...); r.Composer == nil {
		t.Errorf("it fills the screen: %+v", r)
	}
}

// at is what the recording's screen shows then.
func at(t testing.TB, ref *truth.Reference, name string, seconds float64) *agent.Reading {
	t.Helper()
	var r *agent.Reading
	for _, l := range looks(t, ref, name) {
		if l.at.Seconds() <= seconds {
			r = l.reading
		}
	}
	if r == nil {
		t.Fatalf("%s: nothing is drawn at %v", name, seconds)
	}
	return r
}

func TestComposers(t *testing.T) {
	ref := reference(t)
	const hint = "Type your message or @path/to/file"
	for _, c := range []struct {
		recording string
		at        float64
		empty     bool
		hint      string
		text      string
		busy      string
	}{
		{"20_plain", 1.6, true, hint, "", ""},
		{"20_plain", 2.2, false, "", "SCENARIO:plain", ""},
		{"20_plain", 2.75, true, hint, "", "⠹ Executing Hooks: rec-SessionStart, rec-BeforeAgent, rec-PreCompress (esc to cancel, 0s)                              ? for shortcuts"},
		{"07_nudging", 5.5, false, "", "SCENARIO:echo please do the thing number 0 and report back", ""},
		{"07_nudging", 34.3, false, "", "SCENARIO:echo pasted\nsecond line\nthird 中文 😀", ""},
		{"14_all_hooks_steps", 5.5, true, hint, "", ""}, // every tool is let run: another mark
		{"14_all_hooks_steps", 2.2, false, "", "SCENARIO:steps", ""},
		{"11_long_cjk_resize", 9.5, true, hint, "", ""}, // at 80x24
	} {
		r := at(t, ref, c.recording, c.at)
		box := r.Composer
		if box == nil || r.Dialog != nil {
			t.Errorf("%s %v: %+v", c.recording, c.at, r)
			continue
		}
		if box.Mode != agent.ModeMessage || box.Empty != c.empty || box.Hint != c.hint || box.Text != c.text || !box.Focused || !similar(r.Busy, c.busy) {
			t.Errorf("%s %v: %+v busy %q", c.recording, c.at, box, r.Busy)
		}
	}
	if f := at(t, ref, "26_err400", 4).Failed; f == nil || f.Class != agent.Invalid || !strings.HasPrefix(f.Text, `[API Error: {"error":{"code":400`) || !strings.HasSuffix(f.Text, "}}]") {
		t.Errorf("an error: %+v", f)
	}
	if r := at(t, ref, "22_deny_esc", 4.5); r.Failed != nil || !r.Bare() || !strings.Contains(r.Footer, "no sandbox") {
		t.Errorf("a refusal: %+v", r)
	}
}

// similar compares without how many blanks there are.
func similar(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

// draw is a screen of these rows. ¦ is the caret.
func draw(rows ...string) *agent.Reading {
	term := terminal.New(terminal.Options{Cols: 80, Rows: 30})
	var viewer detect.Viewer
	text := strings.Join(rows, "\r\n")
	_, _ = term.Write([]byte(strings.ReplaceAll(text, "¦", "\x1b[7m \x1b[27m")))
	return gemini.Driver{}.Screen(viewer.View(term.Snapshot(0)))
}

const (
	ruled  = "────────────────────────────────────────────────────────────────────────────────"
	upper  = "▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄"
	lower  = "▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀"
	foot   = " workspace (/directory)\r\n ~/work"
	roof   = "╭────────────────────────────────────────────────────────────────────────────╮"
	ground = "╰────────────────────────────────────────────────────────────────────────────╯"
	hinted = " > ¦ Type your message or @path/to/file"
)

func TestQueue(t *testing.T) {
	r := draw(upper, " > do it", lower, "✦ word1 word2", "", "", "  Queued (press ↑ to edit):", "    then this", "    and that", "",
		" ⠧ Thinking... (esc to cancel, 3s)                          ? for shortcuts", ruled, " Shift+Tab to accept edits", upper, hinted, lower, foot)
	if r.Composer == nil || !r.Composer.Empty || !strings.HasPrefix(r.Busy, "⠧ Thinking...") || strings.Join(r.Queued, "|") != "then this|and that" {
		t.Errorf("%+v %+v", r, r.Composer)
	}
}

func TestComposerModes(t *testing.T) {
	for row, want := range map[string]agent.Composer{
		" > ¦":                   {Mode: agent.ModeMessage, Empty: true, Focused: true},
		" ! ls¦":                 {Mode: agent.ModeShell, Text: "ls", Focused: true},
		" (r:) le¦":              {Mode: agent.ModeSearch, Text: "le", Focused: true},
		" * go¦":                 {Mode: agent.ModeMessage, Text: "go", Focused: true},
		hinted:                   {Mode: agent.ModeMessage, Empty: true, Focused: true, Hint: "Type your message or @path/to/file"},
		" >   Type your message": {Mode: agent.ModeMessage, Text: "  Type your message"},
	} {
		r := draw("✦ Done.", "", "  ? for shortcuts", ruled, upper, row, lower, foot)
		if r.Composer == nil || *r.Composer != want {
			t.Errorf("%q is %+v, want %+v", row, r.Composer, want)
		}
	}
}

// fill draws the rows as Gemini does where COLORTERM promises no true color: in a box with a background, between blank
// rows of it.
func fill(rows ...string) string {
	var all []string
	for _, row := range slices.Concat([]string{""}, rows, []string{""}) {
		all = append(all, "\x1b[48;5;234m"+row+strings.Repeat(" ", 80-len([]rune(row)))+"\x1b[49m")
	}
	return strings.Join(all, "\r\n")
}

// TestWithoutTrueColor: the composer and the sent messages are boxes with a background, as su and sudo have Gemini
// draw them.
func TestWithoutTrueColor(t *testing.T) {
	above := []string{fill(" > go"), "✦ Done.", "", "  ? for shortcuts", ruled, " Shift+Tab to accept edits"}
	for name, c := range map[string]struct {
		rows []string
		want *agent.Composer
	}{
		"empty":       {[]string{fill(hinted), foot}, &agent.Composer{Mode: agent.ModeMessage, Empty: true, Focused: true, Hint: "Type your message or @path/to/file"}},
		"a draft":     {[]string{fill(" > one", "   ", "   three¦"), foot}, &agent.Composer{Mode: agent.ModeMessage, Text: "one\n\nthree", Focused: true}},
		"no composer": {nil, nil},
	} {
		r := draw(append(above[:len(above):len(above)], c.rows...)...)
		if (r.Composer == nil) != (c.want == nil) || c.want != nil && *r.Composer != *c.want {
			t.Errorf("%s: %+v, want %+v", name, r.Composer, c.want)
		}
	}
	if r := draw(fill(" > go"), "✕ [API Error: quota", "  RESOURCE_EXHAUSTED]", "", "  ? for shortcuts", ruled, fill(hinted), foot); r.Failed == nil || r.Failed.Class != agent.RateLimited {
		t.Errorf("it failed with %+v", r.Failed)
	}
	if r := draw("✕ [API Error: quota", fill(" > go"), "", "  ? for shortcuts", ruled, fill(hinted), foot); r.Failed != nil {
		t.Errorf("the message after the error has %+v", r.Failed)
	}
}

// TestFooterTwice: Gemini leaves a copy of the rows below its composer after an answer that is
// taller than the window. Other rows below a composer are not left out.
func TestFooterTwice(t *testing.T) {
	const typed = " > MOCK: text and on¦"
	r := draw("  line 027", "", "", "  Executing Hook: berth", ruled, " Shift+Tab to accept edits", upper, typed, lower, foot, "", lower, foot)
	if r.Composer == nil || r.Composer.Text != "MOCK: text and on" || !r.Composer.Focused || r.Footer != "workspace (/directory)\n~/work" {
		t.Errorf("%+v %+v", r, r.Composer)
	}
	for name, rows := range map[string][]string{
		"another footer":    {upper, typed, lower, foot, "", lower, " workspace (/directory)", " ~/other"},
		"a row between":     {upper, typed, lower, foot, "✦ done", lower, foot},
		"a composer's copy": {upper, typed, lower, foot, upper, " > one more", lower},
		"no composer":       {"✦ done", lower, foot, "", lower, foot},
	} {
		if r := draw(rows...); r.Composer != nil && r.Composer.Text == "MOCK: text and on" {
			t.Errorf("%s: %+v", name, r.Composer)
		}
	}
}

// TestErrorsOnScreen: an error belongs to the last turn only while nothing is drawn below
// it. Text of the model that looks like an error isn't one.
func TestErrorsOnScreen(t *testing.T) {
	for name, c := range map[string]struct {
		rows []string
		want agent.Class
	}{
		"one":                      {[]string{upper, " > go", lower, "", "✕ [API Error: quota", "  RESOURCE_EXHAUSTED]", "ℹ This request failed."}, agent.RateLimited},
		"its stream ended":         {[]string{upper, " > go", lower, "✕ Model stream ended without a finish reason."}, agent.Network},
		"of the turn before":       {[]string{"✕ [API Error: x]", upper, " > go", lower, "✦ fine"}, ""},
		"and then it went on":      {[]string{upper, " > go", lower, "✕ [API Error: x]", "✦ fine"}, ""},
		"a word of the model's":    {[]string{upper, " > go", lower, "✦ it says", "  ✕ [API Error: x]"}, ""},
		"in what a command prints": {[]string{upper, " > go", lower, roof, "│ ✕ [API Error: x]" + strings.Repeat(" ", 60) + "│", ground}, ""},
	} {
		r := draw(append(c.rows, "", "", "  ? for shortcuts", ruled, upper, hinted, lower, foot)...)
		got := agent.Class("")
		if r.Failed != nil {
			got = r.Failed.Class
		}
		if r.Composer == nil || got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// box puts rows into a box at the screen's end.
func box(rows ...string) []string {
	out := []string{"✦ I will do it.", "", roof}
	for _, r := range rows {
		out = append(out, "│ "+r+strings.Repeat(" ", max(0, 74-len([]rune(r))))+" │")
	}
	return append(out, ground)
}

// TestPlace: when calls run side by side, a dialog shows which of them it is about.
func TestPlace(t *testing.T) {
	ask := []string{"Allow execution of [Shell]?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"}
	for head, want := range map[string]int{
		"? Shell  touch p1.txt" + strings.Repeat(" ", 40) + "1 of 2": 1, "? Shell  mkdir p2" + strings.Repeat(" ", 44) + "2 of 2": 2,
		"? Shell  echo 1 of 2": 0, "? Shell  ls": 0,
	} {
		if d := draw(box(append([]string{head}, ask...)...)...).Dialog; d == nil || d.Place != want {
			t.Errorf("%q: %+v, want %d", head, d, want)
		}
	}
}

func TestDialogs(t *testing.T) {
	edit := box("? WriteFile  Writing to w0.txt", "", "1 + line one", "2 + 1. Allow once", "", "Apply this change?", "",
		"● 1. Allow once", "  2. Allow for this session", "  3. Modify with external editor     4. No, suggest changes (esc)")
	for name, c := range map[string]struct {
		rows []string
		want string
	}{
		"a change of a file":         {edit, "permission/WriteFile/write_file/4"},
		"under a hint":               {slices.Concat(edit, []string{" Press Ctrl+O to show more lines"}), "permission/WriteFile/write_file/4"},
		"its upper half has gone":    {edit[5:], "permission///4"},
		"a tool that was not seen":   {box("? FindFiles  '*.go'", "Do you want to proceed?", "", "● 1. Allow once", "  2. No, suggest changes (esc)"), "permission/FindFiles//2"},
		"waits for the login":        {box("", "⠋ Waiting for authentication... (Press Esc or Ctrl+C to cancel)", ""), ""},
		"what a command prints":      {box("✓  Shell cat notes", "", "Allow execution of [Shell]?", "1. Allow once", "2. No, suggest changes (esc)"), ""},
		"the end":                    {box("", "Agent powering down. Goodbye!", "", "Interaction Summary"), ""},
		"a list of some command's":   {box("Select Model", "", "● 1. Auto", "  2. Manual", "", "(Press Esc to close)"), "notice/Select Model//2"},
		"a loop":                     {box("A potential loop was detected", "", "● 1. Keep loop detection enabled (esc)", "  2. Disable loop detection for this session"), "notice/A potential loop was detected//2"},
		"it restarts":                {append(box("Do you trust the files in this folder?", "● 1. Trust folder (work)", "  2. Don't trust"), "", " Gemini CLI is restarting to apply the trust changes..."), ""},
		"half of one":                {edit[:len(edit)-1], ""},
		"a composer below":           {slices.Concat(edit, []string{ruled, upper, hinted, lower, foot}), ""},
		"one that says no at first":  {box("? Shell  ls", "Allow execution of [Shell]?", "● 1. No", "  2. Allow once"), "notice/Shell  ls//2"},
		"several pages":              {box("Answer Questions", "", "← □ One │ ✓ Two │ ≡ Review →", "", "Which?", "", "● 1.  A", "  2.  B", "", "Enter to select · ←/→ to switch questions · Esc to cancel"), "question//ask_user/2"},
		"several of its own options": {box("Answer Questions", "", "Which?", "(Select all that apply)", "● 1. [x] A", "  2. [ ] B", "Enter to select · ↑/↓ to navigate · Esc to cancel"), "question//ask_user/2"},
	} {
		r := draw(c.rows...)
		got := ""
		if d := r.Dialog; d != nil {
			got = strings.Join([]string{string(d.Type), d.Title, d.Tool, string(rune('0' + len(d.Options)))}, "/")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	roofed := []string{"╭" + strings.Repeat("─", 70) + "╮", "│ cat <<EOF > notes" + strings.Repeat(" ", 52) + "│", "│   1. Allow once" + strings.Repeat(" ", 54) + "│", "╰" + strings.Repeat("─", 70) + "╯"}
	shell := draw(box(slices.Concat([]string{"? Shell  cat <<EOF > notes …"}, roofed, []string{"Allow execution of [Shell]?", "", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"})...)...).Dialog
	if p := (gemini.Driver{}).FromDialog(shell); text(p.Input) != "cat <<EOF > notes\n  1. Allow once" || text(p.Tool) != "run_shell_command" || len(p.Options) != 3 {
		t.Errorf("a command of two lines: %+v, input %q", p, text(p.Input))
	}
	if loop := draw(box("A potential loop was detected", "● 1. Keep loop detection enabled (esc)", "  2. Disable loop detection for this session")...).Dialog; !loop.AfterTurn {
		t.Errorf("a loop: %+v", loop)
	}
	d := draw(edit...).Dialog
	if d.Options[3].Number != 4 || d.Options[3].Label != "No, suggest changes (esc)" || !d.Options[0].Focused || d.Options[1].Focused || !strings.HasPrefix(d.Body, "Writing to w0.txt\n") {
		t.Errorf("%+v", d)
	}
}
