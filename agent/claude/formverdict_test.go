package claude_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
)

// TestFormByHook: what the hook of a form gets. Claude passes the values on unchecked, so wrong ones are refused here.
func TestFormByHook(t *testing.T) {
	const many = `{"properties":{"name":{"type":"string","minLength":2,"maxLength":8},"mail":{"type":"string","format":"email"},"page":{"type":"string","format":"uri"},
		"day":{"type":"string","format":"date"},"at":{"type":"string","format":"date-time"},"count":{"type":"integer","minimum":1,"maximum":9},"ratio":{"type":"number","exclusiveMaximum":1},
		"sure":{"type":"boolean"},"size":{"type":"string","enum":["s","l"]},"tags":{"type":"array","items":{"enum":["a","b"]},"maxItems":1}}}`
	const preset = `{"properties":{"name":{"type":"string","default":"Ann"},"note":{"type":"string","default":""},"count":{"type":"integer","default":4}},"required":["name"]}`
	const required = `{"properties":{"name":{"type":"string"}},"required":["name"]}`
	accepts := func(content string) string {
		if content == "" {
			return `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept"}}`
		}
		return `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":` + content + `}}`
	}
	for _, c := range []struct {
		schema, fields string
		kind           agent.AnswerKind
		option         int
		want           string
		err            error
	}{
		{many, `{"name":"Ann","mail":"a@b.c","page":"https://a.b/c","day":"2026-11-28","at":"2026-11-28T10:00:00Z","count":4,"ratio":0.5,"sure":false,"size":"l","tags":["b"]}`, agent.Accept, 0,
			accepts(`{"at":"2026-11-28T10:00:00Z","count":4,"day":"2026-11-28","mail":"a@b.c","name":"Ann","page":"https://a.b/c","ratio":0.5,"size":"l","sure":false,"tags":["b"]}`), nil},
		{many, "", agent.Accept, 0, accepts(""), nil},
		{many, `{"name":"A"}`, agent.Accept, 0, "name", agent.ErrAnswer},
		{many, `{"name":"Ann Lee is long"}`, agent.Accept, 0, "name", agent.ErrAnswer},
		{many, `{"name":4}`, agent.Accept, 0, "a text", agent.ErrAnswer},
		{many, `{"mail":"Ann <a@b.c>"}`, agent.Accept, 0, "email", agent.ErrAnswer},
		{many, `{"page":"a b"}`, agent.Accept, 0, "uri", agent.ErrAnswer},
		{many, `{"day":"tomorrow"}`, agent.Accept, 0, "date", agent.ErrAnswer},
		{many, `{"at":"2026-11-28"}`, agent.Accept, 0, "date-time", agent.ErrAnswer},
		{many, `{"count":10}`, agent.Accept, 0, "count", agent.ErrAnswer},
		{many, `{"count":2.5}`, agent.Accept, 0, "count", agent.ErrAnswer},
		{many, `{"count":1e999}`, agent.Accept, 0, "count", agent.ErrAnswer},
		{many, `{"ratio":1}`, agent.Accept, 0, "ratio", agent.ErrAnswer},
		{many, `{"size":"m"}`, agent.Accept, 0, "one of s, l", agent.ErrAnswer},
		{many, `{"tags":["a","b"]}`, agent.Accept, 0, "tags", agent.ErrAnswer},
		{many, `{"nope":1}`, agent.Accept, 0, "no field", agent.ErrAnswer},
		{preset, "", agent.Accept, 0, accepts(`{"count":4,"name":"Ann"}`), nil},
		{preset, `{"name":"Bob"}`, agent.Accept, 0, accepts(`{"count":4,"name":"Bob"}`), nil},
		{required, "", agent.Accept, 0, "the form wants name", agent.ErrAnswer},
		{`{"properties":{"x":{"type":"object"}}}`, `{"x":{}}`, agent.Accept, 0, "can't fill in x", agent.ErrCannot},
		{`{"properties":{"x":{"type":"string","pattern":"("}}}`, `{"x":"y"}`, agent.Accept, 0, "its limits can't be read", agent.ErrAnswer},
		{`{"properties":{"x":{"type":"string","$ref":"#","allOf":[{"$ref":"#"}]}}}`, `{"x":"y"}`, agent.Accept, 0, accepts(`{"x":"y"}`), nil},
		{`{"properties":{"a":{"type":"string","default":"good"}},"PROPERTIES":{"b":{"type":"string","default":"bad"}}}`, "", agent.Accept, 0, "schema can't be read", agent.ErrCannot},
		{`{"PROPERTIES":{"b":{"type":"string","default":"bad"}}}`, "", agent.Accept, 0, accepts(""), nil},
		{`{"properties":{"a":{"type":"string","default":"good","DEFAULT":"bad"}}}`, "", agent.Accept, 0, accepts(""), nil},
		{"", "", agent.Accept, 0, accepts(""), nil}, // an address to open
		{required, "", agent.ChooseOption, 2, `"action":"decline"}`, nil},
		{required, "", agent.ChooseOption, 1, "the form wants name", agent.ErrAnswer},
		{required, "", agent.ChooseOption, 3, "a form takes", agent.ErrAnswer},
		{required, "", agent.Deny, 0, `"action":"decline"}`, nil},
		{required, "", agent.Cancel, 0, `"action":"cancel"}`, nil},
		{required, "", agent.AnswerText, 0, "a form takes", agent.ErrAnswer},
	} {
		a := agent.Answer{Kind: c.kind, Option: c.option}
		if c.fields != "" {
			d := json.NewDecoder(strings.NewReader(c.fields))
			d.UseNumber()
			if err := d.Decode(&a.Fields); err != nil {
				t.Fatal(err)
			}
		}
		v, err := claude.Driver{}.Verdict(&agent.Request{Type: agent.PromptForm, Schema: json.RawMessage(c.schema)}, a, []byte(`{"hook_event_name":"Elicitation"}`))
		said := string(v.Stdout)
		if err != nil {
			said = err.Error()
		}
		if !errors.Is(err, c.err) || !strings.Contains(said, c.want) {
			t.Errorf("%s of %s, %s: %s; want %s, %v", c.kind, c.schema, c.fields, said, c.want, c.err)
		}
	}
	if _, err := (claude.Driver{}).Verdict(&agent.Request{Type: agent.PromptForm}, agent.Answer{Kind: agent.Deny, Text: "why"}, []byte(`{}`)); !errors.Is(err, agent.ErrCannot) {
		t.Errorf("a reason: %v", err)
	}
}

const elicitation = `{"session_id":"s","hook_event_name":"Elicitation","prompt_id":"t","mcp_server_name":"lab","message":%q,"requested_schema":{"type":"object","properties":{"name":{"type":"string","title":"Name","description":"What it is called"}}}}`

func (s *forgery) form(message, id string) {
	s.t.Helper()
	s.hook(strings.Replace(elicitation, "%q", `"`+message+`"`, 1), id)
}

func (s *forgery) forms() (all []string) {
	for _, p := range s.f.Status().Requests {
		all = append(all, text(p.Text))
	}
	return all
}

// TestDrawnForms: a form whose hook Berth didn't release takes no key, because a process of the session has it drawn. One that is
// drawn for an attached client does.
func TestDrawnForms(t *testing.T) {
	for _, c := range []struct {
		name string
		ends func(s *forgery)
		keys bool
	}{
		{"released", func(s *forgery) {
			s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: "7", Evidence: agent.HookReleased, Time: s.step()})
		}, true},
		{"ended by another process", func(s *forgery) { s.gone("7") }, false},
	} {
		s := newForgery(t)
		s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
		s.form("Continue?", "7")
		c.ends(s)
		r := formOf(80, "Continue?")
		s.show(r)
		s.pass(2 * time.Second)
		if p := s.f.Status().Request; p == nil || s.keyed(p.ID, r.Dialog) != c.keys || p.Contested == c.keys {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
	s := newForgery(t) // a client was attached when it came, so its hook never waited
	facts, err := claude.Driver{}.Hook([]byte(strings.Replace(elicitation, "%q", `"Continue?"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
	facts[0].Released, facts[0].Time = true, s.step()
	s.f.Apply(facts[0])
	drawn := formOf(80, "Continue?")
	s.show(drawn)
	s.pass(2 * time.Second)
	if p := s.f.Status().Request; p == nil || !s.keyed(p.ID, drawn.Dialog) {
		t.Errorf("drawn for a client: %+v", p)
	}
	s = newForgery(t) // its hook was ended before it reported
	s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
	r := formOf(80, "Continue?")
	s.show(r)
	s.pass(2 * time.Second)
	if p := s.f.Status().Request; p == nil || s.keyed(p.ID, r.Dialog) || !p.Contested {
		t.Errorf("not reported: %+v", p)
	}
	s.form("Continue?", "") // nor does a forged report that waits for nothing make it one
	s.pass(2 * time.Second)
	if p := s.f.Status().Request; p == nil || s.keyed(p.ID, r.Dialog) {
		t.Errorf("reported by another process: %+v", p)
	}
}

// TestWithdrawnForm: the agent ends the hook of a form that its server withdraws, and reports that. The form is over, and another
// one, whose hook waits, isn't. Any process can send that report.
func TestWithdrawnForm(t *testing.T) {
	const withdrawn = `{"session_id":"s","hook_event_name":"Notification","prompt_id":"t","notification_type":"elicitation_response","message":"Elicitation response for server \"lab\": cancel"}`
	s := newForgery(t)
	s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
	s.form("Continue?", "7")
	s.hook(withdrawn, "")
	s.hook(`{"session_id":"s","hook_event_name":"ElicitationResult","prompt_id":"t","mcp_server_name":"lab","action":"accept"}`, "")
	s.hook(`{"session_id":"s","hook_event_name":"PostToolBatch","prompt_id":"t"}`, "")
	if all := s.forms(); len(all) != 1 {
		t.Fatalf("forged reports: %q are asked", all)
	}
	s.form("Delete?", "8")
	s.gone("7")
	s.hook(withdrawn, "")
	if all := s.forms(); len(all) != 1 || all[0] != "Delete?" {
		t.Errorf("after it was withdrawn %q are asked", all)
	}
}

// TestEqualForms: each hook that waits has a form of its own, because an answer to one must not go to another server. A process of
// the session may have ended the first one's hook, or Berth released it.
func TestEqualForms(t *testing.T) {
	for _, server := range []string{"lab", "evil"} {
		for name, ends := range map[string]func(s *forgery){
			"waits": func(*forgery) {}, "ended": func(s *forgery) { s.gone("7") },
			"drawn":    func(s *forgery) { s.gone("7"); s.show(formOf(80, "Your token?")) },
			"released": func(s *forgery) { s.released("7"); s.show(formOf(80, "Your token?")) },
		} {
			s := newForgery(t)
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
			s.form("Your token?", "7")
			first := s.f.Status().Requests[0].ID
			ends(s)
			s.hook(strings.Replace(strings.Replace(elicitation, "%q", `"Your token?"`, 1), `"lab"`, `"`+server+`"`, 1), "8")
			if p, ok := s.f.HeldBy("8"); !ok || p.ID == first || p.Title == nil || !strings.Contains(*p.Title, "“"+server+"”") {
				t.Errorf("%s's form while the first %s: %+v", server, name, p)
			}
		}
	}
}

func (s *forgery) released(id string) {
	s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: id, Evidence: agent.HookReleased, Time: s.step()})
}

// TestKeptFromReporting: a process of the session ends the own hook of a form, or of a subagent's dialog, before it reports, and sends
// another report, before or after the dialog. No key answers the dialog then.
func TestKeptFromReporting(t *testing.T) {
	form := func(session, title string) string {
		return strings.NewReplacer(`"s"`, `"`+session+`"`, "%q", `"Continue?"`, `"Name"`, `"`+title+`"`).Replace(elicitation)
	}
	asks := func(session, about string) string {
		return `{"session_id":"` + session + `","hook_event_name":"PermissionRequest","prompt_id":"t","agent_id":"a1","agent_type":"helper","tool_name":"Bash","tool_input":{"command":"ls","description":"` + about + `"}}`
	}
	for name, c := range map[string]struct {
		shown *agent.Reading
		said  string
		waits string
	}{
		"a form":                       {formOf(80, "Continue?"), "", ""},
		"a form of other fields":       {formOf(80, "Continue?"), form("s", "Nome"), ""},
		"a form of other fields, gone": {formOf(80, "Continue?"), form("s", "Nome"), "7"},
		"another session's form":       {formOf(80, "Continue?"), form("other", "Name"), "7"},
		"a subagent's":                 {plainCommand("Bash command · from the helper agent", "ls"), "", ""},
		"a subagent's, of other words": {plainCommand("Bash command · from the helper agent", "ls"), asks("s", "Other"), ""},
		"another session's subagent's": {plainCommand("Bash command · from the helper agent", "ls"), asks("other", "List"), "7"},
	} {
		for _, first := range []bool{false, true} {
			s := newLogged(t)
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
			tell := func() {
				if c.said != "" {
					s.hook(c.said, c.waits)
				}
				if c.waits != "" && !strings.Contains(c.said, `"other"`) {
					s.gone(c.waits)
				}
			}
			if first {
				tell()
			}
			s.show(c.shown)
			if !first {
				tell()
			}
			s.pass(2 * time.Second)
			s.show(c.shown)
			asked := 0
			for _, p := range s.f.Status().Requests {
				if p.OnScreen {
					asked++
				}
				if s.keyed(p.ID, c.shown.Dialog) {
					t.Errorf("%s, reported first %v: a key answers %+v", name, first, p)
				}
			}
			if asked == 0 {
				t.Errorf("%s, reported first %v: nothing is asked", name, first)
			}
		}
	}
}
