package codex

import (
	"slices"
	"strings"

	"berth/agent"
)

// startup describes a startup dialog: phrases that must all be on the screen, which the dialog has
// for itself, and one of its options.
type startup struct {
	subtype string
	title   string // empty: its first line
	phrases []string
	option  string // empty for a dialog without a list
	foot    string // its last line, when it is complete
}

var startups = []startup{
	{agent.SubtypeTrust, "Folder access", []string{"Folder access", "Trust this folder?"}, "Trust and continue", "enter continue"},
	{agent.SubtypeHookReview, "Hooks need review", []string{"Hooks need review", "hooks won't run"}, "Trust all and continue", "enter confirm"},
	{agent.SubtypeUpdate, "Update available", []string{"Update available", "Update now"}, "Skip until next version", "enter continue"},
	{agent.SubtypeModelOffer, "", []string{"Try new model"}, "Use existing model", "enter/esc confirm"},
	{agent.SubtypeLoginMethod, "Choose how you want to use Codex", []string{"Welcome to Codex", "Choose how you want to use Codex"}, "Sign in with ", "Press enter to continue"},
	{agent.SubtypeLoginMethod, "Sign in", []string{"Welcome to Codex", "Sign in with ChatGPT to use Codex"}, "Sign in with ", "Press enter to continue"},
	{agent.SubtypeLoginMethod, "Sign in another way", []string{"Welcome to Codex", "Sign in another way"}, "Use an OpenAI API key", "Press enter to continue"},
	{agent.SubtypeAPIKey, "API key", []string{"Use your own OpenAI API key", "Paste or type your API key below", "Press enter to save"}, "", ""},
	{agent.SubtypeOAuthLogin, "Sign in", []string{"Welcome to Codex", "https://"}, "", ""},
	{agent.SubtypeTerminal, "TERM is set to \"dumb\"", []string{"interactive TUI may not work in this terminal", "Continue anyway? [y/N]:"}, "", ""},
}

// setup reads the dialogs before the first composer.
func (b *block) setup() bool {
	s := b.screen
	all := s.view.Text(0, s.last)
	for _, one := range startups {
		if !hasAll(all, one.phrases) || !b.offers(one.option) || one.option == "" && b.focused() {
			continue
		}
		top := 0
		for top < s.last && (s.blank(top) || one.title != "" && !strings.Contains(s.text(top), one.phrases[0])) {
			top++
		}
		if s.talks(top) {
			continue
		}
		b.fill(one, top)
		return true
	}
	return false
}

// offers reports whether an option starts with that text. It is true for an empty text.
func (b *block) offers(option string) bool {
	for _, o := range b.dialog.Options {
		if strings.HasPrefix(o.Label, option) {
			return true
		}
	}
	return option == ""
}

// focused reports whether an option is chosen, which shows that the dialog has a list.
func (b *block) focused() bool {
	return slices.ContainsFunc(b.dialog.Options, func(o agent.Option) bool { return o.Focused })
}

// talks reports whether there is a conversation above the row. A conversation may quote any dialog.
func (s *screen) talks(row int) bool {
	for i := range row {
		if strings.HasPrefix(s.text(i), "• ") || strings.HasPrefix(s.text(i), mark+" ") {
			return true
		}
	}
	return false
}

func hasAll(text string, phrases []string) bool {
	for _, p := range phrases {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

func (b *block) fill(one startup, top int) {
	d, s := b.dialog, b.screen
	b.top = top
	d.Type, d.Subtype, d.Title = agent.PromptSetup, one.subtype, one.title
	if one.subtype == agent.SubtypeTrust {
		d.Type = agent.PromptPermission
	}
	if d.Title == "" {
		d.Title = strings.TrimSpace(s.text(top))
	}
	if one.option == "" {
		d.Options = nil // the numbers belong to its text
		d.Body = s.view.Text(top, s.last)
		if one.subtype == agent.SubtypeAPIKey {
			b.secret = true
			d.Body, _, _ = strings.Cut(d.Body, "╭")
			d.Body = strings.TrimSpace(d.Body)
		}
		return
	}
	d.Body = s.view.Text(top, b.first-1)
	d.Partial = !strings.Contains(b.foot, one.foot)
}
