package acp

import (
	"slices"
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"berth/agent"
	"berth/commands"
)

func itoa(n int) string { return strconv.Itoa(n) }

// leave is the option that answers nothing. The prompt stays for a person.
const leave = "leave"

// choices are what an editor may answer, by the words of respond. It is empty for what only words answer,
// several questions, a login, whose options its digest doesn't cover, and a dialog that only a person at the
// terminal can answer. What the prompt shows only a part of can only be rejected.
//
// Clients that allow or reject by themselves choose by the kinds of the options. So only an option of a
// permission allows anything. What isn't a permission has no right answer without a person: its first option
// leaves it, and all have a kind that no client allows. Such a client takes the first option then.
func choices(p *agent.Request) []sdk.PermissionOption {
	option := func(words, name string, kind sdk.PermissionOptionKind) sdk.PermissionOption {
		return sdk.PermissionOption{OptionId: sdk.PermissionOptionId(words), Name: name, Kind: kind}
	}
	numbered := func(kinds []sdk.PermissionOptionKind) (list []sdk.PermissionOption) {
		for i, name := range p.Options {
			list = append(list, option("option "+itoa(i+1), commands.InLine(name), kinds[i]))
		}
		return list
	}
	reject := option("deny", "Reject", sdk.PermissionOptionKindRejectOnce)
	switch {
	case p.Channel == agent.ChannelNone:
		return nil
	case p.InPart():
		return []sdk.PermissionOption{reject}
	case p.Type == agent.PromptPermission && (p.OptionsFallback || len(p.Options) < 2):
		return []sdk.PermissionOption{option("accept", "Allow", sdk.PermissionOptionKindAllowOnce), reject}
	case p.Type == agent.PromptPermission:
		if kinds := kindsOf(p.Options); kinds != nil {
			if agent.Value(p.Subtype) == agent.SubtypeTrust { // it lasts, and a client may allow by itself only what is for once
				kinds[slices.Index(kinds, sdk.PermissionOptionKindAllowOnce)] = sdk.PermissionOptionKindAllowAlways
			}
			return numbered(kinds)
		}
	case len(p.Questions) > 1 || len(p.Questions) == 1 && p.Questions[0].MultiSelect:
		return nil
	case p.OptionsFallback, len(p.Options) == 0, agent.Value(p.Subtype) == agent.SubtypeOAuthLogin:
		return nil
	}
	first := option(leave, "Leave it for a person at the terminal", sdk.PermissionOptionKindRejectOnce)
	return append([]sdk.PermissionOption{first}, numbered(slices.Repeat([]sdk.PermissionOptionKind{sdk.PermissionOptionKindRejectOnce}, len(p.Options)))...)
}

// The words that agents begin the options of a permission with, and those of an option that allows more than
// what is asked.
var (
	yesWords     = []string{"yes", "allow", "approve", "trust", "accept", "proceed", "continue", "always"}
	noWords      = []string{"no", "deny", "reject", "don't", "cancel", "exit", "quit", "keep"}
	lastingWords = []string{"always", "don't ask", "session", "all edits", "auto"}
)

// kindsOf are the kinds of a permission's options. The first plain yes allows once. It is nil if none does, or if
// none rejects.
func kindsOf(options []string) []sdk.PermissionOptionKind {
	var kinds []sdk.PermissionOptionKind
	for _, label := range options {
		label = strings.ToLower(strings.ReplaceAll(label, "’", "'"))
		word := label
		if end := strings.IndexFunc(label, func(r rune) bool { return (r < 'a' || r > 'z') && r != '\'' }); end >= 0 {
			word = label[:end]
		}
		lasting := slices.ContainsFunc(lastingWords, func(w string) bool { return strings.Contains(label, w) })
		switch {
		case slices.Contains(noWords, word):
			kinds = append(kinds, sdk.PermissionOptionKindRejectOnce)
		case !slices.Contains(yesWords, word):
			kinds = append(kinds, sdk.PermissionOptionKindRejectAlways) // such as opening an editor: no client takes it by itself beside a plain no
		case lasting || slices.Contains(kinds, sdk.PermissionOptionKindAllowOnce):
			kinds = append(kinds, sdk.PermissionOptionKindAllowAlways)
		default:
			kinds = append(kinds, sdk.PermissionOptionKindAllowOnce)
		}
	}
	if !slices.Contains(kinds, sdk.PermissionOptionKindAllowOnce) || !slices.Contains(kinds, sdk.PermissionOptionKindRejectOnce) {
		return nil
	}
	return kinds
}
