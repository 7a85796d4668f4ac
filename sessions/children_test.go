package sessions

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/api"
	"berth/keys"
)

// lead makes a session that may have children, and who its agent is.
func (p *place) lead(may Children) (*Session, Actor) {
	p.t.Helper()
	s := p.sh("lead", "sleep 600", func(s *Spec) { s.Children = may })
	return s, Actor{Identity: keys.Agent(s.ID(), "lead", 1), Client: "c2"}
}

// TestFolderOfAChild: an agent's child is made for the folder that its path leads to at that moment, if the agent may
// name that one. Its right was checked before, and the path may have become a link since.
func TestFolderOfAChild(t *testing.T) {
	p := open(t)
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"allowed/one", "other"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	_, agent := p.lead(Children{Profiles: []string{"worker"}, Max: 2, Cwd: []string{top + "/allowed"}})
	link := top + "/allowed/link"
	start := func(to string) (*Session, error) {
		os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		return p.reg.New(t.Context(), Spec{Profile: "worker", Command: []string{"sleep", "600"}, Cwd: link, CwdReal: link}, agent)
	}
	s, err := start("one")
	if err != nil {
		t.Fatal(err)
	}
	if st := s.Status(); st.Cwd != top+"/allowed/one" || st.CwdReal != st.Cwd {
		t.Errorf("it works in %s, %s", st.Cwd, st.CwdReal)
	}
	if _, err := start("../other"); codeOf(err) != api.CodeDenied || !strings.Contains(err.Error(), "may not name the folder") {
		t.Errorf("a link to another folder: %v", err)
	}
}

// TestNameOfAChild: an agent gives its child no name that another session takes messages from, unless that takes the agent's own.
func TestNameOfAChild(t *testing.T) {
	p := open(t)
	_, agent := p.lead(Children{Profiles: []string{"worker"}, Max: 4})
	p.sh("other", "sleep 600", func(s *Spec) { s.Peers = []string{"lead-review", "tag:x"} })
	p.sh("friend", "sleep 600", func(s *Spec) { s.Peers = []string{"lead", "lead-a"} })
	start := func(name string) error {
		_, err := p.reg.New(t.Context(), Spec{Name: name, Profile: "worker", Command: []string{"sleep", "600"}}, agent)
		return err
	}
	if err := start("lead-review"); codeOf(err) != api.CodeDenied || !strings.Contains(err.Error(), "the session other has that name in its peers") {
		t.Errorf("a name that another session trusts: %v", err)
	}
	for _, name := range []string{"lead-a", "lead-b", ""} {
		if err := start(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestStartsOfAnAgent: an agent that ends its children may not start new ones
// without end.
func TestStartsOfAnAgent(t *testing.T) {
	p := open(t)
	began := time.Now()
	var later atomic.Int64
	p.close()
	p.options.Now = func() time.Time { return began.Add(time.Duration(later.Load())) }
	p.open()
	lead, agent := p.lead(Children{Profiles: []string{"worker", "nested"}, Max: 2, Starts: 3})
	start := func(by Actor) (*Session, error) {
		return p.reg.New(t.Context(), Spec{Profile: "worker", Command: []string{"sleep", "600"}, Children: Children{Profiles: []string{"worker"}, Max: 9}}, by)
	}
	var last *Session
	for i := range 3 {
		s, err := start(agent)
		if err != nil {
			t.Fatalf("start %d: %v", i, err)
		}
		if last = s; i < 2 {
			<-s.End(t.Context(), tester, 0)
			within(t, s, "the end", ended)
		}
	}
	// Its child starts on the same account, be there never so many.
	inner := Actor{Identity: keys.Agent(last.ID(), "worker", 1), Client: "c3"}
	for _, by := range []Actor{agent, inner} {
		if by.Identity.Session == lead.ID() {
			<-last.End(t.Context(), tester, 0)
			within(t, last, "the end", ended)
			_, err := start(by)
			if codeOf(err) != api.CodeLimit || !strings.Contains(err.Error(), "wait 1m") {
				t.Errorf("a fourth start: %v", err)
			}
			if err := p.reg.Restart(t.Context(), last, tester); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if _, err := start(by); codeOf(err) != api.CodeLimit {
			t.Errorf("a start by its child: %v", err)
		}
	}
	p.reopen()
	if _, err := start(inner); codeOf(err) != api.CodeLimit || !strings.Contains(err.Error(), "wait 1m") {
		t.Errorf("at the next server: %v", err)
	}
	later.Store(int64(startsIn))
	s, err := start(inner)
	if err != nil {
		t.Fatalf("a minute later: %v", err)
	}
	if st := s.Status(); st.Root != lead.ID() || st.Parent != last.ID() || st.Depth != 2 {
		t.Errorf("root %s, parent %s, depth %d", st.Root, st.Parent, st.Depth)
	}
}

// TestRetentionOfChildren: what agents start and end pushes out no session but
// their own.
func TestRetentionOfChildren(t *testing.T) {
	now := time.Unix(1e9, 0)
	var over []endedSession
	names := map[*Session]string{}
	add := func(name, root string, age time.Duration, size int64) {
		e := endedSession{session: &Session{}, at: now.Add(-age), size: size, root: root, share: 2}
		names[e.session] = name
		over = append(over, e)
	}
	keep := Retention{Ended: time.Hour, Keep: 3, Total: 1000}
	for i := range 5 {
		add(fmt.Sprint("person", i), "", time.Duration(10+i)*time.Minute, 200)
	}
	for i := range 50 {
		add(fmt.Sprint("child", i), "lead", time.Duration(i)*time.Second, 10)
	}
	add("of-another", "other", 20*time.Minute, 10)
	add("older-of-another", "other", 2*time.Hour, 10)
	add("large-child", "third", 0, 101)
	var kept []string
	past := keep.past(now, over)
	for s, name := range names {
		if _, is := past[s]; !is {
			kept = append(kept, name)
		}
	}
	slices.Sort(kept)
	if got, want := fmt.Sprint(kept), "[child0 child1 of-another person0 person1 person2]"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
}

// TestRetentionOfAHugeSession: an agent that fills its folder pushes out its own session alone.
func TestRetentionOfAHugeSession(t *testing.T) {
	now := time.Unix(1e9, 0)
	huge, small, old := &Session{}, &Session{}, &Session{}
	past := Retention{Total: 1000}.past(now, []endedSession{
		{session: old, at: now.Add(-time.Hour), size: 300}, {session: huge, at: now, size: 2000}, {session: small, at: now.Add(-time.Minute), size: 300},
	})
	if len(past) != 1 || past[huge] == "" {
		t.Errorf("%d sessions go, the huge one for %q", len(past), past[huge])
	}
}

// TestStartsAreRecalled: what the folders say of starts before the server counts, but
// for those that are older or to come.
func TestStartsAreRecalled(t *testing.T) {
	now := time.Unix(1e9, 0)
	b := births{recent: map[string][]time.Time{}, coming: map[string][]string{}, born: map[string]int{}}
	for _, age := range []time.Duration{10 * time.Second, 50 * time.Second, startsIn, -time.Hour} {
		b.recall(now, "lead", now.Add(-age))
	}
	b.recall(now, "", now) // a person's
	none := func() []ancestor { return nil }
	if _, err := b.begin(now, Spec{ID: "a", Root: "lead"}, false, none, 2); err == nil || !strings.Contains(err.Error(), "2 sessions") || !strings.Contains(err.Error(), "wait 11s") {
		t.Errorf("a third: %v", err)
	}
	if _, err := b.begin(now.Add(10*time.Second), Spec{ID: "b", Root: "lead"}, false, none, 2); err != nil {
		t.Errorf("when the first is a minute ago: %v", err)
	}
}

// TestSubtrees: each session above has its numbers for all below it, and what is being started counts.
func TestSubtrees(t *testing.T) {
	now := time.Unix(1e9, 0)
	lead := ancestor{id: "lead", name: "lead", may: Children{Max: 3, Total: 4, Depth: 2}}
	sub := ancestor{id: "sub", name: "sub", depth: 1, may: Children{Max: 2}}
	b := births{recent: map[string][]time.Time{}, coming: map[string][]string{}, born: map[string]int{}}
	begin := func(id string, depth int, above ...ancestor) error {
		_, err := b.begin(now, Spec{ID: id, Root: "lead", Depth: depth}, false, func() []ancestor { return above }, 100)
		return err
	}
	steps := []struct {
		id    string
		depth int
		above []ancestor
		want  string
	}{
		{"sub", 1, []ancestor{lead}, ""},
		{"a", 2, []ancestor{sub, lead}, ""},
		{"deep", 3, []ancestor{{id: "a", name: "a", depth: 2, may: Children{Max: 9}}, sub, lead}, "3 generations below lead"},
		{"b", 2, []ancestor{sub, lead}, ""},
		{"c", 2, []ancestor{sub, lead}, "2 sessions below sub run"},
		{"d", 1, []ancestor{lead}, "3 sessions below lead run"},
	}
	for _, s := range steps {
		err := begin(s.id, s.depth, s.above...)
		if s.want == "" && err != nil || s.want != "" && (err == nil || !strings.Contains(err.Error(), s.want)) {
			t.Errorf("%s: %v, want %q", s.id, err, s.want)
		}
	}
	b.end("a")
	b.end("b")
	if err := begin("d", 1, lead); err != nil {
		t.Error(err)
	}
	b.end("d")
	if err := begin("e", 1, lead); err == nil || !strings.Contains(err.Error(), "4 sessions were started below lead") {
		t.Errorf("a fifth: %v", err)
	}
	again := births{recent: map[string][]time.Time{}, coming: map[string][]string{}, born: map[string]int{}}
	lead.born = 4 // as its folder says after a restart of the server
	if _, err := again.begin(now, Spec{ID: "f", Root: "lead", Depth: 1}, false, func() []ancestor { return []ancestor{lead} }, 100); err == nil {
		t.Error("the total was forgotten")
	}
}
