package notify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// play runs a story through a machine: words are events, moments and restarts.
//
//	+2s         time passes; what is due is told
//	s:idle      the session goes into a state
//	s?1  s!1    it asks prompt 1; that is resolved
//	s=complete  it reports
//	s.exited s.restarted s.removed
//	restart     the server is another one
func play(t *testing.T, rules []Rule, story string) string {
	t.Helper()
	now, cursor := t0, uint64(100)
	m := New(cursor)
	m.See(rules)
	var told []string
	var flying []Notice
	take := func(kind, session, data string) {
		cursor++
		m.Take(Line{Cursor: cursor, Type: kind, Session: session, Time: now, Raw: json.RawMessage(data)})
	}
	tell := func() {
		due, _ := m.Due(now, 4, func(string) []Rule { return rules })
		for _, n := range due {
			told = append(told, fmt.Sprintf("%s@%s:%s/%s", n.Rule.ID(), now.Sub(t0), n.Occasion.Kind, n.Occasion.Session))
			flying = append(flying, n)
		}
	}
	landed := func() {
		for _, n := range flying {
			take("notify", n.Occasion.Session, fmt.Sprintf(`{"rule":%q,"key":%q}`, n.Rule.ID(), n.Occasion.Key))
		}
		flying = nil
	}
	for _, word := range strings.Fields(story) {
		switch {
		case word == "restart":
			data, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			m = &Machine{}
			if err := json.Unmarshal(data, m); err != nil {
				t.Fatal(err)
			}
		case word[0] == '+':
			d, err := time.ParseDuration(word[1:])
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(d)
		default:
			event(t, word, take)
		}
		tell()
		landed()
	}
	return strings.Join(told, " ")
}

func event(t *testing.T, word string, take func(kind, session, data string)) {
	t.Helper()
	s, rest := word[:1], word[2:]
	switch word[1] {
	case ':':
		take("state_change", s, fmt.Sprintf(`{"next":%q}`, rest))
	case '?':
		take("prompt", s, fmt.Sprintf(`{"prompt":{"id":%q}}`, rest))
	case '!':
		take("prompt_resolved", s, fmt.Sprintf(`{"prompt":%q}`, rest))
	case '=':
		take("report", s, fmt.Sprintf(`{"kind":%q}`, rest))
	case '.':
		take(map[string]string{"exited": "exited", "restarted": "restarted", "removed": "session_removed"}[rest], s, "{}")
	default:
		t.Fatal(word)
	}
}

func TestMachine(t *testing.T) {
	rule := func(name string, on ...string) Rule { return Rule{Name: name, On: on, Run: []string{"x"}} }
	p, all := rule("p", "prompt"), rule("all", "prompt", "error", "exited", "idle>10m", "report:escalate")
	for name, c := range map[string]struct {
		rules []Rule
		story string
		want  string
	}{
		"a prompt, after 3 s":            {[]Rule{p}, "a?1 +2s +1s +1h", "p@3s:prompt/a"},
		"one that is answered by then":   {[]Rule{p}, "a?1 +2s a!1 +1h", ""},
		"each once":                      {[]Rule{p}, "a?1 +4s a?2 +1s +2s +1h", "p@4s:prompt/a p@7s:prompt/a"},
		"by each rule":                   {[]Rule{p, all}, "a?1 +3s", "p@3s:prompt/a all@3s:prompt/a"},
		"error":                          {[]Rule{all}, "a:error +3s +1h", "all@3s:error/a"},
		"error that is over":             {[]Rule{all}, "a:error +1s a:working +1h", ""},
		"exited":                         {[]Rule{all}, "a.exited a:exited +3s +1h", "all@3s:exited/a"},
		"started again by itself":        {[]Rule{all}, "a.exited a:restarting +1s a.restarted +1h", ""},
		"idle for long":                  {[]Rule{all}, "a:idle +9m59s +1s +1h", "all@10m0s:idle/a"},
		"idle, working, idle":            {[]Rule{all}, "a:idle +9m a:working +1m a:idle +9m59s +1s", "all@20m0s:idle/a"},
		"a report at once":               {[]Rule{all}, "a=escalate +1h", "all@0s:report/a"},
		"another report":                 {[]Rule{all}, "a=complete +1h", ""},
		"nothing of it is wanted":        {[]Rule{p}, "a:error a:idle a=escalate a.exited +1h", ""},
		"removed":                        {[]Rule{all}, "a.exited +1s a.removed +1h", ""},
		"a restart before it is due":     {[]Rule{p}, "a?1 +2s restart +1s +1h", "p@3s:prompt/a"},
		"a restart behind it":            {[]Rule{p}, "a?1 +3s restart +1h restart +1h", "p@3s:prompt/a"},
		"no longer so after the restart": {[]Rule{p}, "a?1 +2s restart a!1 +1h", ""},
		"several sessions":               {[]Rule{p}, "a?1 +1s b?2 +2s +1s", "p@3s:prompt/a p@4s:prompt/b"},
		"most at once, the oldest first": {[]Rule{p}, "a?1 b?2 c?3 d?4 e?5 f?6 +3s +0s", "p@3s:prompt/a p@3s:prompt/b p@3s:prompt/c p@3s:prompt/d p@3s:prompt/e p@3s:prompt/f"},
		"another error is another one":   {[]Rule{all}, "a:error +3s a:working a:error +3s", "all@3s:error/a all@6s:error/a"},
		"exited, started, exited":        {[]Rule{all}, "a.exited +3s a:restarting a.restarted a.exited +3s", "all@3s:exited/a all@6s:exited/a"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := play(t, c.rules, c.story); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestKilledWhileTold: a notice of which nobody knows how it went is told again.
func TestKilledWhileTold(t *testing.T) {
	rules := []Rule{{Name: "p", On: []string{"prompt"}, Run: []string{"x"}}}
	of := func(string) []Rule { return rules }
	m := New(0)
	m.See(rules)
	m.Take(Line{Cursor: 1, Type: "prompt", Session: "a", Time: t0, Raw: json.RawMessage(`{"prompt":{"id":"1"}}`)})
	if due, _ := m.Due(t0.Add(3*time.Second), 4, of); len(due) != 1 {
		t.Fatal(due)
	}
	if due, _ := m.Due(t0.Add(4*time.Second), 4, of); len(due) != 0 {
		t.Errorf("told twice: %+v", due)
	}
	data, _ := json.Marshal(m)
	next := &Machine{}
	if err := json.Unmarshal(data, next); err != nil {
		t.Fatal(err)
	}
	if due, _ := next.Due(t0.Add(4*time.Second), 4, of); len(due) != 1 || due[0].Occasion.Key != "prompt:1" {
		t.Errorf("after the kill: %+v", due)
	}
}

// TestRate: ten at once, then one each six seconds, and none that is over.
func TestRate(t *testing.T) {
	rules := []Rule{{Name: "p", On: []string{"prompt"}, Run: []string{"x"}}}
	of := func(string) []Rule { return rules }
	m := New(0)
	m.See(rules)
	for i := range 20 {
		m.Take(Line{Cursor: uint64(i + 1), Type: "prompt", Session: "a", Time: t0, Raw: json.RawMessage(fmt.Sprintf(`{"prompt":{"id":"%d"}}`, i))})
	}
	at := func(d time.Duration) int {
		due, _ := m.Due(t0.Add(d), 100, of)
		for _, n := range due {
			m.Told(n.Rule.ID(), n.Occasion.Key)
		}
		return len(due)
	}
	for _, c := range []struct {
		d    time.Duration
		want int
	}{{3 * time.Second, 10}, {4 * time.Second, 0}, {9 * time.Second, 1}, {10 * time.Second, 0}, {15 * time.Second, 1}, {27 * time.Second, 2}} {
		if got := at(c.d); got != c.want {
			t.Errorf("after %s: %d, want %d", c.d, got, c.want)
		}
	}
	for i := range 20 {
		m.Take(Line{Cursor: uint64(100 + i), Type: "prompt_resolved", Session: "a", Time: t0, Raw: json.RawMessage(fmt.Sprintf(`{"prompt":"%d"}`, i))})
	}
	if got := at(time.Hour); got != 0 {
		t.Errorf("%d that are over", got)
	}
}

// TestNewRule speaks of what comes after it alone.
func TestNewRule(t *testing.T) {
	old, fresh := Rule{Name: "old", On: []string{"prompt"}, Run: []string{"x"}}, Rule{Name: "new", On: []string{"prompt"}, Run: []string{"x"}}
	m := New(0)
	m.See([]Rule{old})
	m.Take(Line{Cursor: 1, Type: "prompt", Session: "a", Time: t0, Raw: json.RawMessage(`{"prompt":{"id":"1"}}`)})
	m.See([]Rule{fresh})
	m.Take(Line{Cursor: 2, Type: "prompt", Session: "b", Time: t0, Raw: json.RawMessage(`{"prompt":{"id":"2"}}`)})
	due, _ := m.Due(t0.Add(time.Minute), 9, func(string) []Rule { return []Rule{old, fresh} })
	var got []string
	for _, n := range due {
		got = append(got, n.Rule.Name+":"+n.Occasion.Session)
	}
	if strings.Join(got, " ") != "old:a old:b new:b" {
		t.Error(got)
	}
}

// TestSettle: what happened where events are gone.
func TestSettle(t *testing.T) {
	all := []Rule{{Name: "all", On: []string{"prompt", "error", "exited"}, Run: []string{"x"}}}
	m := New(0)
	m.See(all)
	for i, kind := range []string{"a", "b"} {
		m.Take(Line{Cursor: uint64(2*i + 1), Type: "prompt", Session: kind, Time: t0, Raw: json.RawMessage(fmt.Sprintf(`{"prompt":{"id":"%s"}}`, kind))})
		m.Take(Line{Cursor: uint64(2*i + 2), Type: "exited", Session: kind, Time: t0, Raw: json.RawMessage("{}")})
	}
	m.Settle("a", "prompt", []string{"a"})
	m.Settle("b", "exited", nil)
	due, _ := m.Due(t0.Add(time.Minute), 9, func(string) []Rule { return all })
	var got []string
	for _, n := range due {
		got = append(got, n.Occasion.Kind+":"+n.Occasion.Session)
	}
	if strings.Join(got, " ") != "prompt:a exited:b" {
		t.Error(got)
	}
}

// TestFound: what came up in events that are gone is told as the session shows it,
// and what is known of it is not told anew.
func TestFound(t *testing.T) {
	m := New(10)
	rule := Rule{On: []string{"prompt", "error", "exited"}, Run: []string{"x"}}
	m.See([]Rule{rule})
	m.Take(Line{Cursor: 11, Type: "prompt", Session: "a", Time: t0, Raw: json.RawMessage(`{"prompt":{"id":"1"}}`)})
	m.Told(rule.ID(), "prompt:1")
	shown := map[string]time.Time{"1": t0, "2": t0.Add(time.Minute)}
	for range 2 {
		m.Settle("a", "prompt", []string{"1", "2"})
		m.Found(20, "a", "prompt", t0, shown)
		m.Settle("b", "exited", nil)
		m.Found(20, "b", "exited", t0, nil)
		m.Settle("d", "error", nil)
		m.Found(20, "d", "error", t0, nil)
		m.Settle("c", "working", nil)
		m.Found(20, "c", "working", t0, nil)
	}
	tell := func() string {
		due, _ := m.Due(t0.Add(time.Hour), 10, func(string) []Rule { return []Rule{rule} })
		var got []string
		for _, n := range due {
			got = append(got, n.Occasion.Session+" "+n.Occasion.Key)
			m.Told(n.Rule.ID(), n.Occasion.Key)
		}
		slices.Sort(got)
		return strings.Join(got, ", ")
	}
	if got := tell(); got != "a prompt:2, b exited:20:b, d error:20:d" {
		t.Errorf("told %s", got)
	}
	// The events were not gone: the sessions were ahead of who reads them.
	m.Take(Line{Cursor: 21, Type: "prompt", Session: "a", Time: t0, Raw: json.RawMessage(`{"prompt":{"id":"2"}}`)})
	m.Take(Line{Cursor: 22, Type: "exited", Session: "b", Time: t0, Raw: json.RawMessage(`{}`)})
	m.Take(Line{Cursor: 23, Type: "state_change", Session: "d", Time: t0, Raw: json.RawMessage(`{"next":"error"}`)})
	if got := tell(); got != "" {
		t.Errorf("told again: %s", got)
	}
	m.Take(Line{Cursor: 24, Type: "state_change", Session: "d", Time: t0, Raw: json.RawMessage(`{"next":"working"}`)})
	m.Take(Line{Cursor: 25, Type: "state_change", Session: "d", Time: t0, Raw: json.RawMessage(`{"next":"error"}`)})
	if got := tell(); got != "d error:25" {
		t.Errorf("of another error is told %q", got)
	}
}

// TestReportsAreBounded keeps the newest of each session: one that reports
// without end takes no memory, and no other's place.
func TestReportsAreBounded(t *testing.T) {
	m := New(0)
	m.Take(Line{Cursor: 1, Type: "report", Session: "b", Time: t0, Raw: json.RawMessage(`{"kind":"escalate"}`)})
	for i := range 2000 {
		m.Take(Line{Cursor: uint64(i + 2), Type: "report", Session: "a", Time: t0, Raw: json.RawMessage(`{"kind":"status"}`)})
	}
	if len(m.Occasions) != mostReports+1 || m.Occasions["report:1"] == nil || m.Occasions["report:2"] != nil || m.Occasions["report:2001"] == nil {
		t.Errorf("%d reports", len(m.Occasions))
	}
	if m.Due(t0, 1, func(string) []Rule { return nil }); len(m.Occasions) != 0 {
		t.Errorf("%d reports that nobody wants", len(m.Occasions))
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		rule  Rule
		wrong string
	}{
		"run":           {Rule{On: []string{"prompt", "report:escalate", "idle>10m"}, Run: []string{"x"}}, ""},
		"url":           {Rule{On: []string{"error"}, URL: "https://hooks.example/x?t=1", Sessions: []string{"web-*"}}, ""},
		"no when":       {Rule{Run: []string{"x"}}, "nothing of when"},
		"unknown":       {Rule{On: []string{"asks"}, Run: []string{"x"}}, "nothing to notify of"},
		"report":        {Rule{On: []string{"report:done"}, Run: []string{"x"}}, "nothing to notify of"},
		"idle":          {Rule{On: []string{"idle>1s"}, Run: []string{"x"}}, "wants a time"},
		"neither":       {Rule{On: []string{"error"}}, "one of the two"},
		"both":          {Rule{On: []string{"error"}, Run: []string{"x"}, URL: "http://x"}, "one of the two"},
		"empty command": {Rule{On: []string{"error"}, Run: []string{""}}, "empty"},
		"scheme":        {Rule{On: []string{"error"}, URL: "file:///secret-token"}, "has to begin"},
		"no host":       {Rule{On: []string{"error"}, URL: "http:///secret-token"}, "has to begin"},
		"pattern":       {Rule{On: []string{"error"}, Run: []string{"x"}, Sessions: []string{"[a"}}, "no pattern"},
	} {
		err := c.rule.Check()
		if (err == nil) != (c.wrong == "") || err != nil && (!strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "secret-token")) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want bool
	}{
		{Rule{}, true}, {Rule{Sessions: []string{"web-*"}}, true}, {Rule{Sessions: []string{"db-*"}}, false},
		{Rule{Tags: []string{"team-a"}}, true}, {Rule{Tags: []string{"team-b"}}, false}, {Rule{Sessions: []string{"web-*"}, Tags: []string{"t*"}}, true},
	} {
		if got := c.rule.Of("web-1", []string{"team-a", "ci"}); got != c.want {
			t.Errorf("%+v: %v", c.rule, got)
		}
	}
	if (Rule{Tags: []string{"*"}}).Of("x", nil) {
		t.Error("a session without tags has one")
	}
}

// TestRulesOfASession: a rule of its own that has the name of one of all
// sessions is another one, and both are told.
func TestRulesOfASession(t *testing.T) {
	pager := Rule{Name: "pager", On: []string{"prompt"}, Run: []string{"page"}}
	ci := Rule{On: []string{"exited"}, Run: []string{"tell"}, Tags: []string{"ci"}}
	own := Rule{Name: "pager", On: []string{"prompt"}, URL: "https://example.org/x"}
	for name, c := range map[string]struct {
		tags []string
		own  []Rule
		want string
	}{
		"all's":                 {nil, nil, "pager"},
		"by tag":                {[]string{"ci"}, nil, "pager " + ci.ID()},
		"of its own":            {nil, []Rule{{Name: "mine"}}, "pager mine"},
		"of the same name":      {nil, []Rule{own}, "pager alpha/pager"},
		"the same, unnamed":     {[]string{"ci"}, []Rule{ci}, "pager " + ci.ID()},
		"one it is not part of": {nil, []Rule{ci}, "pager " + ci.ID()},
	} {
		var ids []string
		for _, r := range For("alpha", c.tags, []Rule{pager, ci}, c.own) {
			ids = append(ids, r.ID())
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
