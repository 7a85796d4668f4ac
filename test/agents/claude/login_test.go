//go:build agents

package claude

import (
	"encoding/json"
	"net/url"
	"testing"
)

// signIn is what prompt says of a page of the sign-in.
func (l *lab) signIn() (text, link string) {
	l.T.Helper()
	var p struct {
		Prompt struct {
			Text, URL *string
		}
	}
	check(l.T, json.Unmarshal(l.Call("state", l.Name), &p))
	if p.Prompt.Text != nil {
		text = *p.Prompt.Text
	}
	if p.Prompt.URL != nil {
		link = *p.Prompt.URL
	}
	return text, link
}

// TestSignIn goes as far as it gets without the hosts of a sign-in: the menu,
// the URL, which is drawn over several rows, the code, and the error.
func TestSignIn(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"1", "2"} {
		t.Run(way, func(t *testing.T) { testSignIn(t, way) })
	}
}

func testSignIn(t *testing.T, way string) {
	l := newStartLab(t, Seed{Onboarded: true, Trusted: true}, nil)
	l.ReachesOut = true
	l.start("login", map[string]string{"ANTHROPIC_API_KEY": ""}, nil)
	l.asksFor("login")
	l.send("/login")
	l.choosesSignIn(way)
	l.asksFor("oauth_login")
	text, link := l.signIn()
	u, err := url.Parse(link)
	check(t, err)
	state := stateOf(t, link)
	q := u.Query()
	whole := q.Get("code_challenge_method") == "S256" && len(q.Get("code_challenge")) == 43 && q.Get("redirect_uri") != ""
	if short := way == "1" && newer(330) || newer(332); u.Scheme != "https" || len(state) != 43 || whole == short {
		t.Errorf("the URL is %q; it says %q", link, text)
	}
	if r, status := l.Try("", "accept"); status == 0 {
		t.Errorf("a page that wants a code was accepted: %+v", r)
	}
	if r, status := l.Try("", "text", "two words"); status == 0 {
		t.Errorf("two words pass for a code: %+v", r)
	}
	code := "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG#" + state
	r := l.Respond("keys", "answered", "text", code)
	l.See("OAuth error")
	l.asksFor("oauth_login")
	if s := l.Said(); s.Prompt.ID == r.Prompt || s.Prompt.Title != "Sign in failed" {
		t.Errorf("the error is reported as %+v", s.Prompt)
	}
	l.Respond("keys", "accepted", "accept")
	l.asksFor("login_method")
	l.Respond("keys", "denied", "deny")
	l.asksFor("login") // its composer says that no one is signed in
}
