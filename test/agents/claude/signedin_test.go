//go:build agents

package claude

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// signsIn enters a code in the page that asks for one, and returns the code.
func (l *lab) signsIn() (code string) {
	l.T.Helper()
	l.asksFor("oauth_login")
	var link string
	_, err := l.Until(l.Ctx, patient, "shows no URL", func(string) bool { _, link = l.signIn(); return link != "" })
	check(l.T, err)
	code = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
	l.Respond("keys", "answered", "text", code+"#"+stateOf(l.T, link))
	return code
}

// stateOf is what a code must end in. Newer versions have it alone in a short link, after a letter for the kind of link.
func stateOf(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	check(t, err)
	if kind, state, ok := strings.Cut(u.RawQuery, "-"); ok && len(kind) == 1 && newer(330) {
		return state
	}
	return u.Query().Get("state")
}

// choosesSignIn answers which account signs in, and how if it is asked.
func (l *lab) choosesSignIn(way string) {
	l.T.Helper()
	l.asksFor("login_method")
	l.Respond("keys", "answered", "option", way)
	if way == "2" && newer(330) {
		l.Poll(func() bool { p := l.Said().Prompt; return p != nil && p.Title == "How do you want to sign in?" },
			func() string { return "it does not ask how to sign in" })
		l.Respond("keys", "answered", "option", "2")
	}
}

// TestSignedIn goes through a sign-in that is accepted, with both kinds of
// account: at the first start of an empty home, and from the composer.
func TestSignedIn(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"1", "2"} {
		for _, seed := range []Seed{{}, {Onboarded: true, Trusted: true}} {
			name := "first start, option " + way
			if seed.Onboarded {
				name = "from the composer, option " + way
			}
			t.Run(name, func(t *testing.T) { testSignedIn(t, way, seed) })
		}
	}
}

func testSignedIn(t *testing.T, way string, seed Seed) {
	l := newStartLab(t, seed, nil)
	v := l.plays()
	l.start("login", v.env(), []string{"--trust"})
	if seed.Onboarded {
		l.asksFor("login")
		l.ready()
		l.send("/login")
	}
	l.choosesSignIn(way)
	code := l.signsIn()
	if seed.Onboarded { // groom answers what is asked at the start alone
		l.asksFor("login_success")
		l.Respond("keys", "accepted", "accept")
	}
	l.Is("idle")
	l.ready()
	want := []string{"theme_picker accept accepted", "login_success accept accepted", "security_notes accept accepted", "trust accept accepted"}
	if seed.Onboarded {
		want = nil
	}
	if got := l.groomed(); !slices.Equal(got, want) {
		t.Errorf("answered %q, want %q", got, want)
	}
	if grants := v.granted(); len(grants) != 1 || grants[0]["code"] != code {
		t.Errorf("the code was given as %v", grants)
	}
	l.send("MOCK: text signed in")
	l.See("● signed in")
	l.Is("idle")
	if data, err := os.ReadFile(filepath.Join(l.home.Config, ".credentials.json")); way == "1" && (err != nil || !strings.Contains(string(data), "sk-ant-oat01-lab-1")) {
		t.Errorf("the credentials are %s, %v", data, err)
	}
}

// TestSignInRefused: the code is refused; the page that says so tries again.
func TestSignInRefused(t *testing.T) {
	l := newStartLab(t, Seed{Onboarded: true, Trusted: true}, nil)
	v := l.plays()
	v.refuse(1)
	l.start("login", v.env(), nil)
	l.asksFor("login")
	l.ready()
	l.send("/login")
	l.asksFor("login_method")
	l.Respond("keys", "answered", "option", "1")
	l.signsIn()
	l.See("OAuth error")
	_, err := l.Until(l.Ctx, patient, "does not report the failed sign-in", func(string) bool {
		s := l.Said()
		return s.State == "prompt" && s.Prompt.Title == "Sign in failed"
	})
	check(t, err)
	l.Respond("keys", "accepted", "accept")
	l.asksFor("login_method")
	l.Respond("keys", "answered", "option", "1")
	l.signsIn()
	l.asksFor("login_success")
	l.Respond("keys", "accepted", "accept")
	l.Is("idle")
}
