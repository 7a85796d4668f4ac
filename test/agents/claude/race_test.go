//go:build agents

package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/testbed"
)

// TestKeysTwoInARow: an answer by keys never answers two dialogs either.
func TestKeysTwoInARow(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	for _, way := range []struct{ message, first, second string }{
		{"MOCK: bash2", "first.txt", "second.txt"}, {"MOCK: parallel", "p1.txt", "p2.txt"},
		{"MOCK: alike", "alike1.txt", "alike2.txt"}, {"MOCK: writes", "w1.txt", "w2.txt"},
	} {
		l.send(way.message)
		l.hookWaits()
		l.byKeys()
		one, _ := l.prompt()
		l.Respond("keys", "accepted", "--prompt", one.ID, "accept")
		l.See(`^ .*`+way.second, proceed+"|Do you want to create", cancel)
		two := l.hookWaits()
		if !l.Made(way.first) || l.Made(way.second) || two.ID == one.ID {
			t.Fatalf("%s: first %v, second %v after one answer; prompts %s and %s", way.message, l.Made(way.first), l.Made(way.second), one.ID, two.ID)
		}
		if r, status := l.Try("", "--prompt", one.ID, "accept"); status != 6 {
			t.Errorf("the first again: status %d, %+v", status, r)
		}
		l.byKeys()
		l.Respond("keys", "denied", "deny")
		l.Is("idle")
		if l.Made(way.second) {
			t.Fatal(way.message, "ran a command that was refused")
		}
	}
}

// TestRespondRaces has a person press a key around the moment of an answer:
// the result names who was first, and no second key reaches the next dialog.
// An answer by keys may find the person writing (status 7).
func TestRespondRaces(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{"hook", "keys"} {
		t.Run(channel, func(t *testing.T) {
			l := newStateLab(t, Ready())
			l.Is("idle")
			for ms := -300; ms <= 300; ms += 30 {
				l.race(channel, time.Duration(ms)*time.Millisecond)
			}
		})
	}
}

// race lets a person refuse, ahead of an answer that accepts by that much.
func (l *lab) race(channel string, ahead time.Duration) {
	l.T.Helper()
	file := fmt.Sprintf("race%d.txt", ahead.Milliseconds())
	l.send("MOCK: bash touch " + file)
	p := l.hookWaits()
	l.promptShown("permission")
	if channel == "keys" {
		l.byKeys()
	}
	person, no := make(chan error, 1), l.option("No")
	l.beforeKey() // else it may only go to that option
	go func() {
		time.Sleep(max(0, -ahead))
		_, err := l.Host.Call(l.Ctx, []byte(no), "input", l.Name, "-")
		person <- err
	}()
	time.Sleep(max(0, ahead))
	r, status := l.Try("", "--prompt", p.ID, "accept")
	busy := <-person // the lease may be ours in that moment
	var refused *host.Failure
	if busy != nil && !errors.As(busy, &refused) {
		l.T.Fatal(busy)
	}
	if busy != nil && status != 0 {
		l.T.Fatalf("a person %s ahead of %s: neither was let: status %d, %+v, error %+v; person %v", ahead, channel, status, r, r.Error, busy)
	}
	l.T.Logf("a person %s ahead of %s: outcome %s, status %d, error %+v; person %v", ahead, channel, r.Outcome, status, r.Error, busy)
	l.Is("idle")
	made := l.Made(file)
	if r.Confirmed != made || !made && status != 6 && status != 9 && !(status == 7 && busy == nil) || made && r.Outcome != "accepted" {
		l.T.Errorf("a person %s ahead of %s: made is %v; status %d, %+v, error %+v; person %v", ahead, channel, made, status, r, r.Error, busy)
		for _, kind := range []string{"state_change", "prompt_resolved", "respond", "input", "hook"} {
			all := l.events(kind)
			for _, e := range all[max(0, len(all)-8):] {
				delete(e, "payload")
				l.T.Logf("%v", e)
			}
		}
	}
	if n := l.hooksWaiting(); len(n) > 0 {
		l.T.Errorf("%d hooks are left", len(n))
	}
	l.key("Ctrl-u") // a key after the answer is a draft
}

// hookWaits waits for a prompt that a hook waits for.
func (l *lab) hookWaits() testbed.Shown {
	l.T.Helper()
	return l.PromptUntil("one that a hook waits for", func(p testbed.Shown) bool { return p.Channel == "hook" })
}

// TestRespondAfterAnArrow: a key that chooses nothing doesn't count as an answer.
func TestRespondAfterAnArrow(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	for i, channel := range []string{"hook", "keys"} {
		l.send(fmt.Sprintf("MOCK: bash touch arrow%d.txt", i))
		l.hookWaits()
		l.promptShown("permission")
		if channel == "keys" {
			l.byKeys()
		}
		l.key("Down")
		l.Respond(channel, "accepted", "accept")
		l.Is("idle")
		if !l.Made(fmt.Sprintf("arrow%d.txt", i)) {
			t.Error("accepted, and it did not run")
		}
	}
}

// TestHooksEnd: a hook ends when a person has answered at the dialog, in each of the ways
// after which Claude itself leaves the hook running.
func TestHooksEnd(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	for i, way := range []string{"1", "No", "Escape", "words"} {
		l.send(fmt.Sprintf("MOCK: bash touch end%d.txt", i))
		l.hookWaits()
		l.promptShown("permission")
		if len(l.hooksWaiting()) != 1 {
			t.Fatalf("%d hooks wait", len(l.hooksWaiting()))
		}
		if way == "No" {
			way = l.option("No")
		}
		if way == "words" {
			l.goesTo("No")
			l.key("Tab")
			l.See("No, and tell Claude what to do differently")
			check(t, l.Type(l.Ctx, "use another file"))
			l.See("use another file")
			way = "Enter"
		}
		l.key(way)
		l.Is("idle")
		l.Poll(func() bool { return len(l.hooksWaiting()) == 0 }, func() string { return "after " + way + " a hook is left" })
	}
}

// TestRespondHeldBack: while a draft is in the composer, Claude holds a dialog back. The hook
// can still answer; keys wait for the dialog.
func TestRespondHeldBack(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	for i, channel := range []string{"hook", "keys"} {
		l.send(fmt.Sprintf("MOCK: bash sleep 1; touch held%d.txt", i))
		l.See("esc to interrupt|" + proceed)
		check(t, l.Type(l.Ctx, "half a draft"))
		l.hookWaits()
		if channel == "keys" {
			l.byKeys()
		}
		l.Respond(channel, "accepted", "accept")
		l.Is("idle")
		if !l.Made(fmt.Sprintf("held%d.txt", i)) {
			t.Error("accepted, and it did not run")
		}
		l.See(prompt + "half a draft *$") // the composer has no key of the answer
		l.key("Ctrl-u")
		l.ready()
	}
}

// TestRespondCallerGone: the connection is lost between the keys of an answer. Berth finishes the answer and emits its
// event.
func TestRespondCallerGone(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	message := "MOCK: ask-three gone"
	l.send(message)
	l.hookWaits()
	l.promptShown("question")
	l.byKeys()
	ctx, cancel := context.WithCancel(l.Ctx)
	done := make(chan error, 1)
	go func() {
		_, err := l.Host.Call(ctx, nil, "respond", l.Name, "answer", "1=3 2=my own 3=1,3")
		done <- err
	}()
	l.See("Which size do you want") // the first key was pressed
	cancel()
	if err := <-done; err == nil {
		t.Log("the answer was through before its caller was gone")
	}
	l.ModelGot(message, "my own")
	l.Is("idle")
	if e := l.events("respond"); len(e) != 1 || e[0]["confirmed"] != true {
		t.Errorf("the events are %v", e)
	}
}

// TestForeignHooks: another Claude, run by a tool, makes no prompt: its hook is
// released at once and the session's state is its own.
func TestForeignHooks(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	// Its own settings hold our hooks; its command needs a permission, which with
	// -p is refused unless a hook says otherwise.
	all, err := filepath.Glob(filepath.Join(filepath.Dir(l.home.Workspace), "state", "sessions", "*", "claude-settings.json"))
	if err != nil || len(all) != 1 {
		t.Fatalf("settings %q, %v", all, err)
	}
	check(t, os.Symlink(all[0], filepath.Join(l.home.Workspace, "s.json")))
	check(t, os.Symlink(programs.Agent, filepath.Join(l.home.Workspace, "nested")))
	command := "./nested -p --settings s.json 'MOCK: bash touch nested.txt'; touch over.txt"
	l.send("MOCK: bash " + command)
	l.hookWaits()
	l.Respond("hook", "accepted", "accept")
	l.Is("idle")
	if !l.Made("over.txt") {
		t.Fatal("the nested one has not ended")
	}
	asked := 0
	for _, e := range l.events("hook") {
		if e["foreign"] == true && e["event"] == "PermissionRequest" {
			asked++
		}
	}
	if len(l.events("prompt")) != 1 || asked > 0 && len(l.hooksWaiting()) > 0 {
		t.Errorf("prompts %v, %d hooks wait", l.events("prompt"), len(l.hooksWaiting()))
	}
	t.Logf("the nested one's PermissionRequest came %d times", asked)
}
