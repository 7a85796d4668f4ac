package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"berth/config"
	"berth/sessions/account"
)

// TestShellsOfUsers: a shell that hangs holds up its user's sessions, and no
// other's; one that answers is asked again when it is wanted, not all the time.
func TestShellsOfUsers(t *testing.T) {
	goOn := make(chan struct{})
	var asked atomic.Int32
	now := time.Now()
	shells := &logins{
		ctx: t.Context(), log: slog.New(slog.DiscardHandler), known: map[string]*login{}, now: func() time.Time { return now },
		ask: func(_ context.Context, a config.Account) ([]string, error) {
			if a.Name == "hangs" {
				<-goOn
			}
			n := asked.Add(1)
			if n == 4 {
				return []string{"PATH=/in-part"}, errors.New("no answer")
			}
			return []string{"PATH=/" + a.Name + slices.Repeat([]string{"", "/new"}, 3)[n]}, nil
		},
	}
	hangs := &account.User{Name: "hangs", Home: "/", UID: 1}
	quick := &account.User{Name: "quick", Home: "/", UID: 0}
	const callers = 20
	first := make(chan map[string]string, callers)
	for range callers {
		go func() { first <- shells.of(hangs, false) }()
	}
	is := func(what string, env map[string]string, want string) {
		t.Helper()
		if env["PATH"] != want {
			t.Errorf("%s: %v, want %s", what, env, want)
		}
	}
	is("another user's", shells.of(quick, false), "/quick/new")
	is("known", shells.of(quick, false), "/quick/new")
	is("asked just now", shells.of(quick, true), "/quick/new")
	now = now.Add(askedAgain)
	is("asked again", shells.of(quick, true), "/quick")
	close(goOn)
	for range callers {
		is("the one that hung", <-first, "/hangs/new")
	}
	now = now.Add(askedAgain)
	is("an answer in part, after a whole one", shells.of(quick, true), "/quick")
	if n := asked.Load(); n != 4 {
		t.Errorf("asked %d times", n)
	}
}
