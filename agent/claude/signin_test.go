package claude

import (
	"errors"
	"strings"
	"testing"

	"berth/agent"
)

func TestShowsCode(t *testing.T) {
	const code = "abcdefghijklmnop#qrstuv"
	stars := strings.Repeat("*", len(code)-codeTail)
	for field, want := range map[string]bool{
		stars + "qrstuv":       true,
		stars[1:] + "qrstuv":   false, // of another
		stars + "xrstuv":       false,
		stars + "qrst…":        true,
		stars + "q…":           true,
		stars + "…":            false, // it could be any
		stars + "pqrs…":        false, // not all of it yet
		"":                     false,
		"abcdef":               false,
		stars + "qrstuv" + "x": false,
	} {
		if got := showsCode(field, code); got != want {
			t.Errorf("%q: %v", field, got)
		}
	}
	if !showsCode("abc", "abc") || showsCode("abc", "abd") {
		t.Error("a short code is not hidden")
	}
}

// TestSignInKeys: what each page takes.
func TestSignInKeys(t *testing.T) {
	page := func(title, url, input string, lines ...string) *agent.Dialog {
		return &agent.Dialog{Type: agent.PromptSetup, Subtype: agent.SubtypeOAuthLogin, Title: title, URL: url, Input: input, Lines: lines}
	}
	const link, cancel = "https://example.com/", "  Esc to cancel"
	text := agent.Answer{Kind: agent.AnswerText, Text: " code#state "}
	for _, c := range []struct {
		dialog *agent.Dialog
		answer agent.Answer
		keys   string
		fails  error
	}{
		{page(titleSignIn, link, "", cancel), text, "code#state Enter", nil},
		{page(titleSignIn, "", "", cancel), text, "", agent.ErrNotReady},
		{page(titleSignIn, "", "***", cancel), text, "", agent.ErrCannot},
		{page(titleSignIn, link, "", cancel), agent.Answer{Kind: agent.AnswerText, Text: "two words"}, "", agent.ErrAnswer},
		{page(titleSignIn, link, "", cancel), agent.Answer{Kind: agent.Accept}, "", agent.ErrAnswer},
		{page(titleSignIn, link, "", cancel), agent.Answer{Kind: agent.Deny}, "Escape", nil},
		{page(titleSignIn, link, ""), agent.Answer{Kind: agent.Deny}, "", agent.ErrAnswer}, // at the first start it cannot be left
		{page(titleSignInFailed, "", "", cancel), agent.Answer{Kind: agent.Accept}, "Enter", nil},
		{page(titleSignInFailed, "", "", cancel), text, "", agent.ErrAnswer},
		{page(titleSignInFailed, "", "", cancel), agent.Answer{Kind: agent.Deny}, "Escape", nil},
	} {
		k, err := Driver{}.Keys(&agent.Request{Type: agent.PromptSetup}, c.answer, c.dialog)
		var keys []string
		for _, s := range k.Steps {
			keys = append(keys, s.Key+s.Paste)
		}
		if !errors.Is(err, c.fails) || c.fails == nil && err != nil || strings.Join(keys, " ") != c.keys {
			t.Errorf("%s %v: %q, %v; want %q, %v", c.dialog.Title, c.answer, keys, err, c.keys, c.fails)
		}
	}
}
