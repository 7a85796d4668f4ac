package claude_test

import (
	"testing"

	"berth/agent"
)

// TestNewerPages: pages of a start and of a sign-in as only Claude Code 2.1.330 draws them.
func TestNewerPages(t *testing.T) {
	const welcome = "Welcome to Claude Code v2.1.330\n..........\n\n     *        ███▓░\n.......█ █   █ █......\n\n"
	for name, c := range map[string]struct {
		drawn, subtype, title, body string
		options                     int
	}{
		"terminal set up": {
			welcome + " Terminal setup\n\n Installed Zed Shift+Enter key binding\n See ~/.config/zed/keymap.json\n\n Press Enter to continue\n",
			agent.SubtypeTerminalDone, "Terminal setup", "Installed Zed Shift+Enter key binding\nSee ~/.config/zed/keymap.json\n\nPress Enter to continue", 1,
		},
		"signed in": {
			"❯ /login\n\n" + rule + "  Login\n\n  Logged in as ann@lab.example\n  ✔ Login successful. Press Enter to continue\n",
			agent.SubtypeLoginSuccess, "Login successful", "✔ Login successful. Press Enter to continue", 1,
		},
		"signed in, at the first start": {
			welcome + " Logged in as ann@lab.example\n ✔ Login successful. Press Enter to continue\n",
			agent.SubtypeLoginSuccess, "Login successful", "✔ Login successful. Press Enter to continue", 1,
		},
		"how to sign in": {
			"❯ /login\n\n" + rule + "  Login\n\n  Anthropic Console account\n\n  How do you want to sign in?\n\n  ❯ 1. Sign in with your Console account (recommended)\n" +
				"    2. Create an API key (legacy) · adds a key to your Console workspace\n    3. Go back\n\n  Esc to cancel\n",
			agent.SubtypeLoginMethod, "How do you want to sign in?", "", 3,
		},
		"how to sign in, at the first start": {
			welcome + " Anthropic Console account\n\n How do you want to sign in?\n\n ❯ 1. Sign in with your Console account (recommended)\n" +
				"   2. Create an API key (legacy) · adds a key to your Console workspace\n   3. Go back\n\n",
			agent.SubtypeLoginMethod, "How do you want to sign in?", "", 3,
		},
	} {
		d := draw(120, 30, c.drawn).Dialog
		if d == nil || d.Type != agent.PromptSetup || d.Subtype != c.subtype || d.Title != c.title || d.Body != c.body || len(d.Options) != c.options {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestStopHooks: the rows that show the user's stop hooks at work, after the turn's end.
func TestStopHooks(t *testing.T) {
	const composer = "\n\n" + rule + "❯ \n" + rule + "  ⏸ manual mode on · esc to interrupt\n"
	for line, want := range map[string]bool{
		"✻ Brewing… (running stop hooks… 1/2 · 2s · ↓ 24 tokens)":  true, // 2.1.197
		"✻ Brewing… (running stop hook · 0s · ↓ 24 tokens)":        true,
		"✢ Galloping… (running Stop hooks… 0/2 · 0s)":              true, // 2.1.330
		"· Galloping… (running Stop hooks… 1/2 · 0s · ↓ 3 tokens)": true,
		"✻ Galloping… (running UserPromptSubmit hook · 0s)":        false,
		"✻ Galloping… (2s · ↓ 24 tokens)":                          false,
	} {
		if r := draw(120, 30, "❯ hello\n\n● done\n\n"+line+composer); r.Hook != want || r.Busy == "" {
			t.Errorf("%s: hook %v, busy %q", line, r.Hook, r.Busy)
		}
	}
}
