package claude

import (
	"regexp"
	"strings"

	"berth/agent"
)

// A startup dialog is known by phrases that all stand in it.
type startup struct {
	subtype string
	title   string
	phrases []string
	options int // at least so many
}

var startups = []startup{
	{agent.SubtypeTrust, "Accessing workspace", []string{"Accessing workspace:", "Yes, I trust this folder"}, 2},
	{agent.SubtypeBypass, "Bypass Permissions mode", []string{"WARNING: Claude Code running in Bypass Permissions mode", "Yes, I accept"}, 2},
	{agent.SubtypeAPIKey, "Detected a custom API key in your environment", []string{"Detected a custom API key", "Do you want to use this API key?"}, 2},
	{agent.SubtypeTheme, "Choose the text style", []string{"Choose the text style that looks best", "Dark mode"}, 3},
	{agent.SubtypeLoginMethod, "Select login method", []string{"Select login method:", "Anthropic Console account"}, 2},
	{agent.SubtypeAutoDefault, "Make auto mode your default permission mode?", []string{"Make auto mode your default permission mode?", "Yes, set auto mode as my default"}, 2},
	{agent.SubtypeTerminalSetup, "Terminal setup", []string{"terminal setup", "Shift+Enter", "Yes"}, 2},
	{agent.SubtypeSettingsError, "Settings Error", []string{"Settings Error", "Exit and fix"}, 2},
	{agent.SubtypeSecurityNotes, "Security notes", []string{"Security notes:", "Press Enter to continue"}, 0},
	{agent.SubtypeLoginSuccess, "Login successful", []string{"Login successful", "Press Enter to continue"}, 0},
	{agent.SubtypeOAuthLogin, titleSignIn, []string{"Opening browser to sign in", "Welcome to Claude Code"}, 0},
	{agent.SubtypeOAuthLogin, titleSignIn, []string{"Opening browser to sign in", "Esc to cancel"}, 0},
	{agent.SubtypeOAuthLogin, titleSignIn, []string{"Paste code here if prompted", "to sign in"}, 0},
	{agent.SubtypeOAuthLogin, titleSignInFailed, []string{"OAuth error:", "Press Enter to retry"}, 0},
}

const (
	titleSignIn       = "Sign in"
	titleSignInFailed = "Sign in failed"
)

// setup reads the dialogs before the first composer. Some have no rule above
// them: then the whole screen is theirs, as nothing else was drawn yet.
func (b *bottomBlock) setup() bool {
	for _, s := range startups {
		if !b.has(s.phrases...) {
			continue
		}
		options, first := b.dialog.Options, b.first
		if len(options) == 0 || options[0].Number == 0 {
			options, first = b.unnumbered()
		}
		if len(options) < s.options {
			continue
		}
		d := b.dialog
		d.Options, b.first = options, first
		d.Type, d.Subtype, d.Title = agent.PromptSetup, s.subtype, s.title
		if s.subtype == agent.SubtypeTrust {
			d.Type = agent.PromptPermission
		}
		if s.options > 0 {
			d.Body = below(s.title, from(b.body(), s.phrases[0]))
			return true
		}
		d.Body, d.Options = from(b.screen.join(0, b.screen.last), s.phrases[0]), nil // numbers are of its text
		if s.subtype == agent.SubtypeOAuthLogin {
			b.signIn()
			return true
		}
		d.Body = below(s.title, d.Body)
		if s.subtype == agent.SubtypeSecurityNotes || s.subtype == agent.SubtypeLoginSuccess {
			d.Options = []agent.Option{{Label: "Press Enter to continue", Focused: true}}
		}
		return true
	}
	return false
}

// unnumberedLine is a row of a list without numbers: the mark of the option that is
// chosen, and that of the one which is set.
var unnumberedLine = regexp.MustCompile(`^( *)(❯ |  )(?:✔ |  )?(\S.*)$`)

// unnumbered reads the options of newer versions: the rows around the one that has
// the mark, in its column. Of a list of answers a row that begins with neither yes
// nor no goes on with the one above.
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

// signIn reads the pages of a sign-in by browser: what goes on, the URL, what
// was typed of the code. Claude draws the URL as rows of the full width without
// a mark that they go on; when it draws them again it cuts each row's begin off.
func (b *bottomBlock) signIn() {
	d := b.dialog
	lines := strings.Split(d.Body, "\n")
	switch {
	case d.Title == titleSignInFailed:
		d.Body, d.Options = strings.TrimSpace(lines[0]), []agent.Option{{Label: "Press Enter to retry", Focused: true}}
		return
	case !b.has(codePhrase):
		d.Body = strings.TrimSpace(lines[0])
		d.Partial = b.has("Esc to cancel") // the URL follows in some seconds
		return
	}
	d.Body = "Browser didn't open? Use the url below to sign in"
	all := strings.Split(b.screen.join(0, b.screen.last), "\n")
	for i, line := range all {
		if strings.HasPrefix(line, "https://") && d.URL == "" {
			d.URL = strings.Join(paragraph(all[i:]), "")
		}
		if _, code, ok := strings.Cut(line, codePhrase); ok {
			rest := append([]string{strings.TrimPrefix(strings.TrimSpace(code), ">")}, paragraph(all[i+1:])...)
			d.Input = strings.TrimSpace(strings.Join(rest, ""))
		}
	}
}

const codePhrase = "Paste code here if prompted"

// paragraph are the lines before the first blank one.
func paragraph(lines []string) []string {
	for i, line := range lines {
		if line == "" {
			return lines[:i]
		}
	}
	return lines
}

// below is the text without its first line where that only says the title.
func below(title, text string) string {
	if first, rest := head(text); strings.TrimSuffix(first, ":") == title {
		return rest
	}
	return text
}

// from is the text from that phrase on.
func from(text, phrase string) string {
	if i := strings.Index(text, phrase); i >= 0 {
		return text[i:]
	}
	return text
}
