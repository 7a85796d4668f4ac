package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// TestForgedRowEnd: a full row may end in a blank or a line break. There, no keys answer
// the call that a hook reported, another reading has another id, and the hook that waits
// takes the answer to its own call.
func TestForgedRowEnd(t *testing.T) {
	first := "echo hi # " + strings.Repeat("x", 64)
	in := func(command string) string { return fmt.Sprintf(`{"command":%q,"description":"List"}`, command) }
	for _, c := range []struct {
		second string
		sure   bool // both rows are longer than a line without a bar
	}{{"curl-evil|sh", false}, {"curl-evil-and-more;rm -rf ~/work/aaaaaaaaaa", true}} {
		r := asksOfCommand("List", first, c.second)
		one, two := first+" "+c.second, first+"\n"+c.second

		s := newForgery(t) // seen alone
		s.show(r)
		if p := s.find(one); p != nil {
			t.Errorf("two lines are shown as one, the second in a comment: %+v", p)
		}
		p := s.find(two)
		if p == nil || !s.keyed(p.ID, r.Dialog) {
			t.Fatalf("%q: what the dialog shows cannot be answered", c.second)
		}
		s.asks("Bash", in(two), "7")
		if now := s.find(two); now == nil || (now.ID == p.ID) != c.sure || now.Channel != agent.ChannelHook {
			t.Errorf("%q: a hook reported the same: %+v", c.second, now)
		}

		s = newForgery(t) // and then a hook that waits reports the other reading
		s.show(r)
		id := s.find(two).ID
		s.asks("Bash", in(one), "7")
		if now := s.find(one); now == nil || now.ID == id || now.Channel != agent.ChannelHook {
			t.Errorf("%q: a hook reported the other reading: %+v", c.second, now)
		}
		if now := s.find(two); now != nil && !c.sure {
			t.Errorf("%q: two prompts for a dialog: %+v", c.second, now)
		}

		for _, id := range []string{"", "7"} { // first reported by a hook, which waits or doesn't
			s = newForgery(t)
			s.asks("Bash", in(one), id)
			s.show(r)
			s.pass(2 * time.Second)
			s.refuses(one, r)
			if p := s.find(two); id == "" && (p == nil || s.keyed(p.ID, r.Dialog) == c.sure) {
				t.Errorf("%q: the dialog's own: %+v", c.second, p)
			}
			if p := s.find(one); id != "" && p.Channel != agent.ChannelHook {
				t.Errorf("%q: its hook waits: %+v", c.second, p)
			}
		}
	}
}

// TestHookOfABrokenCommandGoes: when a person answers at the terminal, the hook of a command
// that is broken over rows ends, and its dialog goes a moment later. Until then the dialog isn't
// a new prompt. A dialog that stays is.
func TestHookOfABrokenCommandGoes(t *testing.T) {
	first := "touch " + strings.Repeat("x", 64)
	for _, stays := range []bool{false, true} {
		s := newForgery(t)
		r := asksOfCommand("List", first, "more-of-it")
		s.asks("Bash", fmt.Sprintf(`{"command":%q,"description":"List"}`, first+" more-of-it"), "7")
		s.show(r)
		s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: "7", Time: s.step()})
		s.show(r)
		s.pass(300 * time.Millisecond)
		if all := s.f.Status().Requests; len(all) != 1 || text(all[0].Input) != first+" more-of-it" {
			t.Fatalf("as its hook goes: %d prompts, %+v", len(all), all[0])
		} else if all[0].Channel != agent.ChannelNone {
			t.Errorf("as its hook goes it is answered by %s", all[0].Channel)
		}
		if stays {
			s.pass(time.Second)
			all := s.f.Status().Requests
			if len(all) != 1 || text(all[0].Input) != first+"\nmore-of-it" || !s.keyed(all[0].ID, r.Dialog) {
				t.Errorf("the dialog stays: %d prompts, %+v", len(all), all[0])
			}
		}
	}
}

// TestBars: a line has a bar in each of its rows, or in none.
func TestBars(t *testing.T) {
	long := "touch " + strings.Repeat("x", 66)
	for _, c := range []struct {
		rows  []string
		asked string
		told  string
		keyed bool
	}{
		{[]string{"ls", "rm -rf x"}, "ls\nrm -rf x", "ls\nrm -rf x", true},
		{[]string{long, strings.Repeat("y", 20)}, long + "\n" + strings.Repeat("y", 20), long + "\n" + strings.Repeat("y", 20), true},
		{[]string{long, "yyyyyy"}, long + "\nyyyyyy", long + "\nyyyyyy", false},
		{[]string{"│ " + long, "│ yy"}, long + "\nyy", long + " yy", false},
		{[]string{"│ " + long, "yy"}, long + "\nyy", "│ " + long + "\nyy", false},
	} {
		r := asksOfCommand("List", c.rows...)
		if r.Dialog.Asked != c.asked {
			t.Errorf("%q asks %q", c.rows, r.Dialog.Asked)
		}
		s := newForgery(t)
		s.asks("Bash", fmt.Sprintf(`{"command":%q,"description":"List"}`, c.told), "")
		s.show(r)
		s.pass(time.Second)
		keyed := false
		for _, p := range s.f.Status().Requests {
			keyed = keyed || len(p.Raw) > 0 && s.keyed(p.ID, r.Dialog)
		}
		if keyed != c.keyed {
			t.Errorf("%q reported as %q: answered by keys %v", c.rows, c.told, keyed)
		}
	}
}

// TestDigestBeforeItsHook: a digest that a caller has read still names the prompt after a hook
// reports the same call.
func TestDigestBeforeItsHook(t *testing.T) {
	s := newForgery(t)
	s.show(asksOfCommand("List", "ls -la"))
	before := s.f.Status().Request
	s.asks("Bash", `{"command":"ls -la","description":"List"}`, "7")
	p, ok := s.f.Pending(before.ID)
	if !ok || p.Hook != "7" || p.Before != before.Digest {
		t.Errorf("digest %s was %s: %+v", p.Request.Digest, before.Digest, p)
	}
}

// TestBarOfAnEmptyLine: a command of several lines has its bar before an empty line too. Its
// dialog matches the prompt that the hook reported.
func TestBarOfAnEmptyLine(t *testing.T) {
	r := asksOfCommand("List", "│ touch a", "│", "│ ls")
	if want := "touch a\n\nls"; r.Dialog.Asked != want {
		t.Errorf("it asks %q, want %q", r.Dialog.Asked, want)
	}
	s := newForgery(t)
	s.asks("Bash", `{"command":"touch a\n\nls","description":"List"}`, "7")
	s.show(r)
	s.pass(3 * time.Second)
	all := s.f.Status().Requests
	if len(all) != 1 || !all[0].OnScreen || all[0].Contested || all[0].Channel != agent.ChannelHook {
		t.Errorf("%d prompts, the first is %+v", len(all), all[0])
	}
}
