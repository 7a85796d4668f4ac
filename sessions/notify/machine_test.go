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

// play runs a story through a machine. Its words are events, times and restarts.
//
//	+2s         time passes; due notices are sent
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
		"a restart after it":             {[]Rule{p}, "a?1 +3s restart +1h restart +1h", "p@3s:prompt/a"},
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

// TestKilledWhileSending: a notice that was being sent when the server was killed is sent again.
func TestKilledWhileSending(t *testing.T) {
	rules := []Rule{{Name: "p", On: []string{"prompt"}, Run: []string{"x"}}}
	of := func(string) []Rule { return rules }
	m := New(0)
	m.See(rules)
	m.Take(Line{Cursor: 1, Type: "prompt", Session: "a", Time: t0, Raw: json.RawMessage(`{"prompt":{"id":"1"}}`)})
	if due, _ := m.Due(t0.Add(3*time.Second), 4, of); len(due) != 1 {
		t.Fatal(due)
	}
	if due, _ := m.Due(t0.Add(4*time.Second), 4, of); len(due) != 0 {
		t.Errorf("sent twice: %+v", due)
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
	at := func(d time.Duration) (all int) {
		for {
			due, _ := m.Due(t0.Add(d), 100, of)
			for _, n := range due {
				m.Done(n.Rule.ID(), n.Occasion.Key)
			}
			if all += len(due); len(due) == 0 {
				return all
			}
		}
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

// TestFound: an occasion whose event is missing is found by the session's status. Its notice is sent
// once, also if the event comes later.
func TestFound(t *testing.T) {
	m := New(10)
	rule := Rule{On: []string{"prompt", "error", "exited"}, Run: []string{"x"}}
	m.See([]Rule{rule})
	m.Take(Line{Cursor: 11, Type: "prompt", Session: "a", Time: t0, Raw: json.RawMessage(`{"prompt":{"id":"1"}}`)})
	m.Done(rule.ID(), "prompt:1")
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
			m.Done(n.Rule.ID(), n.Occasion.Key)
		}
		slices.Sort(got)
		return strings.Join(got, ", ")
	}
	if got := tell(); got != "a prompt:2, b exited:20:b, d error:20:d" {
		t.Errorf("sent %s", got)
	}
	// The events were not missing: the sessions were ahead of the reader.
	m.Take(Line{Cursor: 21, Type: "prompt", Session: "a", Time: t0, Raw: json.RawMessage(`{"prompt":{"id":"2"}}`)})
	m.Take(Line{Cursor: 22, Type: "exited", Session: "b", Time: t0, Raw: json.RawMessage(`{}`)})
	m.Take(Line{Cursor: 23, Type: "state_change", Session: "d", Time: t0, Raw: json.RawMessage(`{"next":"error"}`)})
	if got := tell(); got != "" {
		t.Errorf("sent again: %s", got)
	}
	m.Take(Line{Cursor: 24, Type: "state_change", Session: "d", Time: t0, Raw: json.RawMessage(`{"next":"working"}`)})
	m.Take(Line{Cursor: 25, Type: "state_change", Session: "d", Time: t0, Raw: json.RawMessage(`{"next":"error"}`)})
	if got := tell(); got != "d error:25" {
		t.Errorf("the notices of another error: %q", got)
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
		t.Errorf("%d reports that no rule wants", len(m.Occasions))
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		rule  Rule
		wrong string
	}{
		"run":           {Rule{On: []string{"prompt", "report:escalate", "idle>10m"}, Run: []string{"x"}}, ""},
		"url":           {Rule{On: []string{"error"}, URL: "https://hooks.example/x?t=1", Sessions: []string{"web-*"}}, ""},
		"no when":       {Rule{Run: []string{"x"}}, "doesn't say when"},
		"unknown":       {Rule{On: []string{"asks"}, Run: []string{"x"}}, "a valid condition"},
		"report":        {Rule{On: []string{"report:done"}, Run: []string{"x"}}, "a valid condition"},
		"idle":          {Rule{On: []string{"idle>1s"}, Run: []string{"x"}}, "needs a time"},
		"neither":       {Rule{On: []string{"error"}}, "give one of ntfy"},
		"both":          {Rule{On: []string{"error"}, Run: []string{"x"}, URL: "http://x"}, "give one of ntfy"},
		"empty command": {Rule{On: []string{"error"}, Run: []string{""}}, "empty"},
		"scheme":        {Rule{On: []string{"error"}, URL: "file:///secret-token"}, "has to begin"},
		"ntfy":          {Rule{On: []string{"error"}, Ntfy: "https://ntfy.sh/topic", Token: "tk_1", Text: "{{.session}}"}, ""},
		"slack":         {Rule{On: []string{"error"}, Slack: "https://hooks.slack.com/services/T/B/X"}, ""},
		"telegram":      {Rule{On: []string{"error"}, Telegram: "123:AB-c_d", Chat: "@channel"}, ""},
		"a bot's URL":   {Rule{On: []string{"error"}, Telegram: "http://localhost:8081/bot123:AB", Chat: "-100"}, ""},
		"signed":        {Rule{On: []string{"error"}, URL: "https://x", Secret: "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODk="}, ""},
		"short secret":  {Rule{On: []string{"error"}, URL: "https://x", Secret: "whsec_c2VjcmV0LXRva2Vu"}, "at least 24 bytes"},
		"odd secret":    {Rule{On: []string{"error"}, URL: "https://x", Secret: "secret-token"}, "has to be whsec_"},
		"no topic":      {Rule{On: []string{"error"}, Ntfy: "https://ntfy.sh/"}, "has to end in a topic"},
		"no chat":       {Rule{On: []string{"error"}, Telegram: "123:secret-token"}, "needs chat"},
		"odd bot":       {Rule{On: []string{"error"}, Telegram: "secret-token", Chat: "1"}, "has to be a bot's token"},
		"odd chat":      {Rule{On: []string{"error"}, Telegram: "1:x", Chat: "secret-token x"}, "needs chat"},
		"lost token":    {Rule{On: []string{"error"}, Slack: "https://x/y", Token: "secret-token"}, "token belongs to ntfy, not to slack"},
		"odd token":     {Rule{On: []string{"error"}, Ntfy: "https://x/y", Token: "secret-token\r\nX: y"}, "a character that no token has"},
		"template":      {Rule{On: []string{"error"}, Ntfy: "https://x/y", Text: "{{.session"}, "isn't a valid template"},
		"no host":       {Rule{On: []string{"error"}, URL: "http:///secret-token"}, "has to begin"},
		"pattern":       {Rule{On: []string{"error"}, Run: []string{"x"}, Sessions: []string{"[a"}}, "a valid pattern"},
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

// TestRulesOfASession: a session's own rule may have the name of a rule for all sessions. They are two
// rules, and both notify.
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

// A notice that failed is sent again later, unless its occasion is gone by then. A service that asks to
// wait holds up its own rule alone, and so does one that is slow.
func TestAgain(t *testing.T) {
	slow, quick := Rule{Name: "slow", On: []string{"prompt"}}, Rule{Name: "quick", On: []string{"prompt"}}
	both := func(string) []Rule { return []Rule{slow, quick} }
	m := New(100)
	m.See(both(""))
	cursor := uint64(100)
	take := func(kind, data string) {
		cursor++
		m.Take(Line{Cursor: cursor, Type: kind, Session: "s", Time: t0, Raw: json.RawMessage(data)})
	}
	due := func(at time.Duration) (ids string, next time.Duration) {
		list, wake := m.Due(t0.Add(at), 64, both)
		for _, n := range list {
			ids += fmt.Sprintf("%s/%s/%d ", n.Rule.Name, n.Occasion.Prompt, n.Try)
		}
		return strings.TrimSpace(ids), wake.Sub(t0)
	}
	check := func(at time.Duration, want string, wantNext time.Duration) {
		t.Helper()
		ids, next := due(at)
		if ids != want || wantNext != 0 && next != wantNext {
			t.Fatalf("at %s: %q, next at %s; want %q, %s", at, ids, next, want, wantNext)
		}
	}
	take("prompt", `{"prompt":{"id":"1"}}`)
	check(5*time.Second, "slow/1/1 quick/1/1", 0)
	m.Done("quick", "prompt:1")
	m.Again("slow", "prompt:1", t0.Add(7*time.Second))
	check(6*time.Second, "", 7*time.Second)
	check(7*time.Second, "slow/1/2", 0)
	m.Hold("slow", t0.Add(7*time.Second), time.Minute)
	m.Again("slow", "prompt:1", t0.Add(7*time.Second))
	take("prompt", `{"prompt":{"id":"2"}}`)
	check(8*time.Second, "quick/2/1", 67*time.Second)
	take("prompt_resolved", `{"prompt":"1"}`)
	check(67*time.Second, "slow/2/1", 0)
	if len(m.tries) != 0 || len(m.holds) != 0 {
		t.Errorf("left: %v %v", m.tries, m.holds)
	}
	m.Hold("slow", t0, 1000*time.Hour)
	if m.holds["slow"] != t0.Add(holdMost) {
		t.Errorf("held until %s", m.holds["slow"])
	}

	m = New(100)
	m.See(both(""))
	for i := range 7 {
		take("prompt", fmt.Sprintf(`{"prompt":{"id":"%d"}}`, i))
	}
	check(time.Minute, "slow/0/1 quick/0/1 slow/1/1 quick/1/1 slow/2/1 quick/2/1 slow/3/1 quick/3/1", 0)
	for i := range 4 {
		m.Done("quick", fmt.Sprintf("prompt:%d", i))
	}
	check(time.Minute, "quick/4/1 quick/5/1 quick/6/1", 0)
}

// An agent that asks without end uses bounded memory: the oldest prompts are dropped.
func TestManyPrompts(t *testing.T) {
	m := New(0)
	for i := range 1000 {
		m.Take(Line{Cursor: uint64(i + 1), Type: "prompt", Session: "s", Time: t0, Raw: json.RawMessage(fmt.Sprintf(`{"prompt":{"id":"%d"}}`, i))})
	}
	if len(m.Occasions) != mostPrompts || m.Occasions["prompt:999"] == nil {
		t.Errorf("%d wait", len(m.Occasions))
	}
}
