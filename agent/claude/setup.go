package claude

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"berth/agent"
	"berth/agent/pattern"
)

// startup describes a startup dialog. Its frame identifies it: its head is the first text below the
// rule, or below the title of the dialog that shows it, and its options have exactly these labels.
// The same text within another dialog has no such frame.
type startup struct {
	subtype string
	title   string
	head    *pattern.Pattern
	under   string           // the title above its head; empty when its own title is its head
	options []string         // their labels, up to their descriptions; none for a dialog without a list
	more    bool             // other options may follow
	long    bool             // a phone's screen has no room for its head; no other dialog has its options
	last    *pattern.Pattern // how a page without a list ends; nil for any end
}

func only(text string) *pattern.Pattern { return pattern.New("^" + regexp.QuoteMeta(text) + "$") }

const (
	underLogin = "Login"
	underTheme = "Theme"
)

var (
	pressEnter = pattern.New(`Press Enter to continue…?$`)
	signInHead = pattern.New(`^(?:\S )?(?:Opening browser to sign in|(?:Browser didn't open\? )?Use the (?i:url) below to sign in)`)
	themes     = []string{"Auto (match terminal)", "Dark mode", "Light mode"}
)

var startups = []startup{
	{subtype: agent.SubtypeTrust, title: "Accessing workspace", head: only("Accessing workspace:"), options: []string{"Yes, I trust this folder", "No, exit"}, long: true},
	{subtype: agent.SubtypeBypass, title: "Bypass Permissions mode", head: only("WARNING: Claude Code running in Bypass Permissions mode"), options: []string{"No, exit", "Yes, I accept"}, long: true},
	{subtype: agent.SubtypeAPIKey, title: "Detected a custom API key in your environment", head: only("Detected a custom API key in your environment"), options: []string{"Yes", "No (recommended)"}},
	{subtype: agent.SubtypeTheme, title: "Choose the text style", head: only("Choose the text style that looks best with your terminal"), under: underTheme, options: themes, more: true},
	{subtype: agent.SubtypeLoginMethod, title: "Select login method", head: only("Select login method:"), under: underLogin, options: []string{"Claude account with subscription", "Anthropic Console account"}, more: true},
	{subtype: agent.SubtypeLoginMethod, title: "How do you want to sign in?", head: only("How do you want to sign in?"), under: underLogin, options: []string{"Sign in with your Console account (recommended)", "Create an API key (legacy)", "Go back"}},
	{subtype: agent.SubtypeAutoDefault, title: "Make auto mode your default permission mode?", head: only("Make auto mode your default permission mode?"), options: []string{"Yes, set auto mode as my default permission mode", "No, keep manual mode"}},
	{subtype: agent.SubtypeTerminalSetup, title: "Terminal setup", head: only("Use Claude Code's terminal setup?"), options: []string{"Yes, use recommended settings", "No, maybe later with /terminal-setup"}},
	{subtype: agent.SubtypeSettingsError, title: "Settings Error", head: only("Settings Error"), options: []string{"Fix with Claude", "Exit and fix manually", "Continue without these settings"}},
	{subtype: agent.SubtypeSettingsError, title: "Settings Error", head: only("Settings Error"), options: []string{"Exit and fix manually", "Continue without these settings"}},
	{subtype: agent.SubtypeTerminalDone, title: "Terminal setup", head: only("Terminal setup"), last: pressEnter},
	{subtype: agent.SubtypeSecurityNotes, title: "Security notes", head: only("Security notes:"), last: pressEnter},
	{subtype: agent.SubtypeLoginSuccess, title: "Login successful", head: pattern.New(`^(?:✔ )?Login successful\. Press Enter to continue…?$`), under: underLogin, last: pressEnter},
	{subtype: agent.SubtypeOAuthLogin, title: titleSignIn, head: signInHead, under: underLogin},
	{subtype: agent.SubtypeOAuthLogin, title: titleSignInFailed, head: pattern.New(`^(?:✘ )?OAuth error:`), under: underLogin},
}

// notLoggedIn is at the right of the footer while Claude has no credentials: each message would fail. At 80 columns one
// blank is left before it.
var notLoggedIn = pattern.New(`(?m)(?:^| )Not logged in · (?:Please )?[Rr]un /login$`)

// signedOut makes a prompt of an empty composer whose footer says that no one is signed in. Typed text, such
// as /login, takes the prompt's place.
func signedOut(r *agent.Reading) {
	if !r.Bare() || !r.Composer.Empty || !notLoggedIn.MatchString(r.Footer) {
		return
	}
	r.Composer = nil
	r.Dialog = &agent.Dialog{
		Type: agent.PromptSetup, Subtype: agent.SubtypeLogin, Title: "Not logged in", Body: "Type /login in its terminal (attach), or start it with credentials",
		Key: string(agent.PromptSetup) + " " + agent.SubtypeLogin,
	}
}

const (
	titleSignIn       = "Sign in"
	titleSignInFailed = "Sign in failed"
)

// setup reads the dialogs before the first composer. Some have no rule above them: then the whole
// screen is theirs, because nothing else was drawn yet.
func (b *bottomBlock) setup() bool {
	options, first := b.dialog.Options, b.first
	if len(options) == 0 || options[0].Number == 0 {
		options, first = b.unnumbered()
	}
	for _, s := range startups {
		head := b.headed(s, first)
		headless := head < 0 && s.long && b.fills(first)
		if headless {
			head = 0
		}
		if head < 0 || len(s.options) > 0 && !s.offers(options) || len(s.options) == 0 && !b.page(s, head) {
			continue
		}
		d := b.dialog
		d.Type, d.Subtype, d.Title = agent.PromptSetup, s.subtype, s.title
		if s.subtype == agent.SubtypeTrust {
			d.Type = agent.PromptPermission
		}
		if len(s.options) > 0 {
			d.Options, b.first = options, first
			d.Cut = d.Cut || headless
			d.Body = below(s.title, b.screen.view.Text(head, first-1))
			return true
		}
		d.Body, d.Options = b.screen.view.Text(head, b.screen.last), nil // a number here is text, not an option
		if s.subtype == agent.SubtypeOAuthLogin {
			b.signIn(head)
			return true
		}
		d.Body = below(s.title, d.Body)
		d.Options = []agent.Option{{Label: "Press Enter to continue", Focused: true}}
		return true
	}
	return false
}

// headed is the row where the dialog's head starts, above its first option; -1 without that head.
func (b *bottomBlock) headed(s startup, first int) int {
	top, end := b.top, first
	if len(s.options) == 0 {
		top, end = b.screen.top(b.screen.last), b.screen.last+1
	}
	anywhere := top < 0
	for i := top + 1; i < end; i++ {
		row := strings.TrimSpace(b.screen.text(i))
		switch {
		case row == "":
		case b.begins(i, end, s.head):
			return i
		case s.under != "" && row == s.under:
			anywhere = true
		case !anywhere:
			return -1
		}
	}
	return -1
}

// fills reports whether the dialog reaches the screen's top: its first rows may have no room. The
// topmost row may be the blank one below its head.
func (b *bottomBlock) fills(first int) bool {
	return b.screen.top(b.screen.last) < 0 && first > 1 && strings.TrimSpace(b.screen.text(0)+b.screen.text(1)) != ""
}

// mostHeadRows bounds the rows of a wrapped head. At 20 columns the longest head fits.
const mostHeadRows = 5

// begins reports whether the rows from that one on are the head, possibly wrapped.
func (b *bottomBlock) begins(row, end int, head *pattern.Pattern) bool {
	for to := row; to < min(end, row+mostHeadRows) && strings.TrimSpace(b.screen.text(to)) != ""; to++ {
		if head.MatchString(flat(b.screen.view.Text(row, to))) {
			return true
		}
	}
	return false
}

// offers reports whether the options are the dialog's. Newer versions may have two options in
// reverse order.
func (s startup) offers(shown []agent.Option) bool {
	if len(shown) < len(s.options) || len(shown) > len(s.options) && !s.more {
		return false
	}
	labels := make([]string, len(s.options))
	for i := range labels {
		label, _, _ := strings.Cut(shown[i].Label, " ·") // the rest is the description
		labels[i] = strings.TrimSpace(strings.TrimSuffix(label, " ✔"))
	}
	if slices.Equal(labels, s.options) {
		return true
	}
	slices.Reverse(labels)
	return len(labels) == 2 && !s.more && slices.Equal(labels, s.options)
}

// page reports whether the end of the screen is a page without a list: no row has the mark that
// every list has, and without a rule only the welcome is above the foot.
func (b *bottomBlock) page(s startup, head int) bool {
	top := b.screen.top(b.screen.last)
	for i := top + 1; i <= b.screen.last; i++ {
		text := strings.TrimSpace(b.screen.text(i))
		if strings.HasPrefix(text, "❯") || top < 0 && i < head && s.last != nil && !welcomes(text) {
			return false
		}
	}
	words, _ := b.screen.lastWords(top)
	return s.last == nil || top >= 0 && s.under != "" || s.last.MatchString(words)
}

// welcomes reports whether the row is part of Claude's welcome: its name, a picture, the signed-in
// user.
func welcomes(text string) bool {
	return strings.HasPrefix(text, "Welcome to Claude Code") || strings.HasPrefix(text, "Logged in as ") ||
		!strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// unnumberedLine matches a row of a list without numbers, with the mark of the chosen option and
// the mark of the option that is set.
var unnumberedLine = pattern.New(`^( *)(❯ |  )(?:✔ |  )?(\S.*)$`)

// unnumbered reads the options of newer versions: the rows around the one with the mark, in its
// column. In a list of answers, a row that starts neither with yes nor with no continues the one
// above.
func (b *bottomBlock) unnumbered() (list []agent.Option, first int) {
	s := b.screen
	at, column := -1, ""
	for i := s.last; i > b.top && at < 0; i-- {
		if m := unnumberedLine.FindStringSubmatch(s.text(i)); m != nil && m[2] == "❯ " {
			at, column = i, m[1]
		}
	}
	if at < 0 {
		return nil, b.first
	}
	label := func(i int) (text string, ok bool) {
		text, ok = strings.CutPrefix(s.text(i), column)
		if m := unnumberedLine.FindStringSubmatch(text); ok && m != nil && (m[1] == "" || m[2] == "  ") {
			return m[3], true
		}
		return "", false
	}
	first, last := at, at
	for ok := true; ok && first > b.top+1; {
		if _, ok = label(first - 1); ok {
			first--
		}
	}
	for ok := true; ok && last < s.last; {
		if _, ok = label(last + 1); ok {
			last++
		}
	}
	answers := false
	for i := first; i <= last; i++ {
		text, _ := label(i)
		begins := strings.HasPrefix(text, "Yes") || strings.HasPrefix(text, "No")
		answers = answers || begins
		if n := len(list); answers && !begins && n > 0 {
			list[n-1].Label += " " + text
			continue
		}
		list = append(list, agent.Option{Label: text, Focused: i == at})
	}
	return list, first
}

// signIn reads the pages of a sign-in by browser: the progress, the URL, the typed part of the
// code. Claude draws the URL as rows of the full width without a mark that they continue; when it
// redraws them it cuts off each row's start. The page starts at its head: a URL above it is another
// one.
func (b *bottomBlock) signIn(head int) {
	d := b.dialog
	lines := strings.Split(d.Body, "\n")
	switch {
	case d.Title == titleSignInFailed:
		d.Body, d.Options = strings.TrimPrefix(flat(strings.Join(paragraph(lines), "\n")), "✘ "), []agent.Option{{Label: "Press Enter to retry", Focused: true}}
		return
	case !b.has(codePhrase):
		_, opening, _ := strings.Cut(lines[0], "Opening browser") // next to a spinner
		d.Body = "Opening browser" + opening
		d.Partial = b.has("Esc to cancel") // the URL follows after some seconds
		return
	}
	d.Body = "Browser didn't open? Use the url below to sign in"
	all := strings.Split(b.screen.view.Text(head, b.screen.last), "\n")
	for i, line := range all {
		if strings.HasPrefix(line, "https://") && d.URL == "" {
			d.URL = strings.Join(paragraph(all[i:]), "")
		}
		if _, code, ok := strings.Cut(line, codePhrase); ok {
			rest := append([]string{strings.TrimPrefix(strings.TrimSpace(code), ">")}, unboxed(paragraph(all[i+1:]))...)
			d.Input = strings.TrimSpace(strings.Join(rest, ""))
		}
	}
}

const codePhrase = "Paste code here if prompted"

// unboxed returns what is in a box that newer versions draw around a field; without a box, the lines
// as they are.
func unboxed(lines []string) (inside []string) {
	if len(lines) == 0 || !strings.HasPrefix(strings.TrimSpace(lines[0]), "╭") {
		return lines
	}
	for _, line := range lines[1:] {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "│")
		if !ok {
			break
		}
		inside = append(inside, strings.TrimSpace(strings.TrimSuffix(text, "│")))
	}
	return inside
}

// paragraph returns the lines before the first blank one.
func paragraph(lines []string) []string {
	for i, line := range lines {
		if line == "" {
			return lines[:i]
		}
	}
	return lines
}

// below is the text without its first line if that is the title.
func below(title, text string) string {
	if first, rest := head(text); strings.TrimSuffix(first, ":") == title {
		return rest
	}
	return text
}
