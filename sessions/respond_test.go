package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/prompts"
)

// asker is an agent that draws its questions: "asks 1: a", which it takes one
// key for, or of two pages "asks 1: a b".
type asker struct{}

var asks = regexp.MustCompile(`asks (\w+): (\w+)(?: (\w+))?`)

func (asker) Name() string                      { return "asker" }
func (asker) Hook([]byte) ([]agent.Fact, error) { return nil, nil }

// Title says that it waits for a key.
func (asker) Title(title string) []agent.Fact {
	if title != "listens" {
		return nil
	}
	return []agent.Fact{{Kind: agent.LevelIs, Source: agent.SourceTitle, Cause: "title", Level: agent.LevelWaiting}}
}

func (asker) OSC(int, string) []agent.Fact                  { return nil }
func (asker) Log([]byte) ([]agent.Fact, error)              { return nil, nil }
func (asker) Stream([]byte) ([]agent.Fact, error)           { return nil, nil }
func (asker) Registry(string, []byte) ([]agent.Fact, error) { return nil, nil }
func (asker) Fill(r *agent.Request, d *agent.Dialog) {
	r.Options, r.Ready, r.OptionsFallback = d.Labels(), true, len(d.Options) == 0
}
func (asker) Waiting(*agent.Fact) *agent.Request { return &agent.Request{} }
func (asker) Match(d *agent.Dialog, r *agent.Request) agent.Match {
	if r.Title != nil && *r.Title == d.Title {
		return agent.WholeMatch
	}
	return agent.NoMatch
}
func (asker) Verdict(*agent.Request, agent.Answer, []byte) (agent.Verdict, error) {
	return agent.Verdict{}, agent.ErrOnlyByKeys
}

func (asker) Screen(v *agent.View) *agent.Reading {
	for _, row := range v.Lines {
		if m := asks.FindStringSubmatch(row.Text); m != nil {
			yes := "Yes"
			if m[2] == "other" {
				yes = "Yes, and never ask again"
			}
			if m[3] == "unread" { // its options come later
				return &agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPermission, Title: m[1], Key: m[1], Body: m[2]}}
			}
			if m[2] == "form" { // without a schema
				return &agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptForm, Title: m[1], Key: m[1], Body: "a", Fields: []agent.Field{{Label: "Name", Value: m[3], Set: m[3] != ""}}, Options: []agent.Option{{Number: 1, Label: "Accept"}}}}
			}
			if m[2] == "review" { // the page that confirms the answers to a question
				return &agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptQuestion, Title: m[1], Key: m[1], Body: m[3], Options: []agent.Option{{Number: 1, Label: "Submit"}}}}
			}
			return &agent.Reading{Dialog: &agent.Dialog{Type: agent.PromptPermission, Title: m[1], Key: m[1], Body: m[2], Question: m[3], Alike: m[3] == "alike", Options: []agent.Option{{Number: 1, Label: yes}}}}
		}
	}
	return &agent.Reading{Composer: &agent.Composer{Empty: true, Focused: true}}
}

func (asker) FromDialog(d *agent.Dialog) *agent.Request {
	if d.Type == agent.PromptQuestion {
		return &agent.Request{Type: d.Type, Title: &d.Title, Text: &d.Body, Options: d.Labels(), Ready: true, Channel: agent.ChannelKeys,
			Questions: []agent.Question{{Text: "Which?"}}, QuestionCurrent: 1}
	}
	r := &agent.Request{Type: d.Type, Title: &d.Title, Options: d.Labels(), OptionsFallback: len(d.Options) == 0, Ready: true, Channel: agent.ChannelKeys}
	if d.Question == "part" { // the dialog shows the file of an edit, and not what is written
		r.SetInput("/w/a")
		r.SetInPart()
	}
	return r
}

func (asker) Table() agent.Table {
	screen := []agent.Witness{{Source: agent.SourceScreen}}
	return agent.Table{agent.MoveReady: screen, agent.MoveAsk: screen, agent.MoveAnswer: screen, agent.MoveRest: screen}
}

// Keys presses y on each page that the answer has; each must have been shown for a
// while for a form's fields, the first unless a hook reports it.
func (asker) Keys(_ *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	if d == nil {
		return agent.KeyAnswer{}, agent.ErrNotReady
	}
	page := func(key, body string) agent.Step {
		return agent.Step{Key: key, Wants: "page " + body, Pause: time.Millisecond, Ready: func(r *agent.Reading) bool { return r.Dialog != nil && r.Dialog.Body == body }}
	}
	switch a.Kind {
	case agent.ChooseOption:
		if len(d.Options) == 0 {
			return agent.KeyAnswer{}, agent.ErrNotReady
		}
		if d.Type == agent.PromptQuestion || d.Body == "late" {
			return agent.KeyAnswer{Steps: []agent.Step{page("y", d.Body)}, Outcome: agent.OutcomeAnswered}, nil
		}
	case agent.Accept:
		if d.Type == agent.PromptQuestion {
			return agent.KeyAnswer{Steps: []agent.Step{page("y", d.Body)}, Outcome: agent.OutcomeAnswered}, nil
		}
		yes := page("y", "a")
		yes.Focus = d.Title == "reports"
		return agent.KeyAnswer{Steps: []agent.Step{yes}, Outcome: agent.OutcomeAccepted}, nil
	case agent.AnswerText:
		paste := page("", "a")
		paste.Paste = a.Text
		return agent.KeyAnswer{Steps: []agent.Step{paste}, Outcome: agent.OutcomeAnswered}, nil
	case agent.Cancel:
		first, second := page("y", "a"), page("y", "b")
		first.ShownFor, first.LevelSuffices, second.ShownFor = stoodFor, true, stoodFor
		return agent.KeyAnswer{Steps: []agent.Step{first, second}, Outcome: agent.OutcomeCancelled}, nil
	case agent.AnswerEach:
		return agent.KeyAnswer{Steps: []agent.Step{page("y", "a"), page("y", "b")}, Outcome: agent.OutcomeAnswered}, nil
	}
	return agent.KeyAnswer{}, fmt.Errorf("%w: say yes", agent.ErrCannot)
}

const stoodFor = 700 * time.Millisecond

// newAsker runs a program that asks these, each a page after the other; a page
// called stop is never left.
func newAsker(t *testing.T, pages ...string) (*place, *Session) {
	t.Helper()
	return newAskerOf(t, asker{}, pages...)
}

func newAskerOf(t *testing.T, driver agent.Driver, pages ...string) (*place, *Session) {
	t.Helper()
	p := open(t)
	p.close()
	p.options.Drivers = map[string]agent.Driver{"asker": driver}
	p.open()
	script := "stty raw -echo\n"
	for _, page := range pages {
		script += fmt.Sprintf("printf '\\033[2J\\033[H%s'\nwhile k=$(dd bs=1 count=1 2>/dev/null) && [ \"$k\" != y ] && [ \"$k\" != n ]; do :; done\n", page)
	}
	s := p.sh("one", script+"printf '\\033[2J\\033[Hrests'\nsleep 600", func(s *Spec) { s.Agent = "asker" })
	within(t, s, "a prompt", func(st *Status) bool { return st.Request != nil && st.Request.Ready })
	return p, s
}

func claim(client string) Claim {
	c := Claim{Actor: tester, Verb: "respond"}
	if c.Client = client; client == "c2" { // who types
		c.Verb = "input"
	}
	return c
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return string(api.AsError(err).Code)
}

func TestRespondByKeys(t *testing.T) {
	p, s := newAsker(t, "asks 1: a", "asks 2: a", "asks 3: b")
	if r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Deny}); code(err) != string(api.CodeNoDriver) {
		t.Errorf("what it cannot take: %+v, %v", r, err)
	}
	first := s.Status().Request.ID
	r, err := s.Respond(t.Context(), claim("c1"), first, agent.Answer{Kind: agent.Accept})
	if err != nil || !r.Delivered || !r.Confirmed || r.Outcome != agent.OutcomeAccepted || r.Channel != agent.ChannelKeys {
		t.Fatalf("%+v, %v", r, err)
	}
	within(t, s, "the second prompt", func(st *Status) bool { return st.Request != nil && st.Request.ID != first })
	if r, err := s.Respond(t.Context(), claim("c1"), first, agent.Answer{Kind: agent.Accept}); code(err) != string(api.CodeStalePrompt) {
		t.Errorf("the first again: %+v, %v", r, err)
	}
	// A key that is none of an answer's is waited for, and is then no answer.
	if err := s.Deliver(t.Context(), claim("c2"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if r, err = s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Accept}); err != nil || !r.Confirmed {
		t.Fatalf("after a key: %+v, %v", r, err)
	}
	if waited := time.Since(begun); waited < prompts.KeyShows {
		t.Errorf("the key was waited for for %s", waited)
	}
	// A person's answer is a person's.
	third := within(t, s, "the third prompt", func(st *Status) bool { return st.Request != nil && *st.Request.Title == "3" }).Request.ID
	if err := s.Deliver(t.Context(), claim("c2"), []byte("n")); err != nil {
		t.Fatal(err)
	}
	r, err = s.Respond(t.Context(), claim("c1"), third, agent.Answer{Kind: agent.Accept})
	if code(err) != string(api.CodeStalePrompt) || r != nil && r.Confirmed {
		t.Errorf("after a person: %+v, %v", r, err)
	}
	p.counts(s.id, map[string]int{"respond": 2, "prompt": 3})
}

// TestRespondToAPart: what a prompt shows only a part of is allowed only if the caller says so. A digest
// doesn't say so, because it covers no more than the prompt shows.
func TestRespondToAPart(t *testing.T) {
	_, s := newAsker(t, "asks 1: a part")
	by := claim("c1")
	by.Digest = s.Status().Request.Digest
	if r, err := s.Respond(t.Context(), by, "", agent.Answer{Kind: agent.Accept}); code(err) != string(api.CodeBadRequest) || !strings.Contains(fmt.Sprint(err), "--unseen") {
		t.Fatalf("%+v, %v", r, err)
	}
	by.Unseen = true
	if r, err := s.Respond(t.Context(), by, "", agent.Answer{Kind: agent.Accept}); err != nil || !r.Confirmed {
		t.Errorf("unseen: %+v, %v", r, err)
	}
}

// TestRespondChangesFocus: a program that knows reports of its terminal's focus gets a change before the key, also if another process
// has turned the terminal's mode off. Another program, as in the other tests, is given nothing but the key.
func TestRespondChangesFocus(t *testing.T) {
	for _, mode := range []string{"\\033[?1004h", "\\033[?1004h\\033[?1004l"} {
		told := filepath.Join(t.TempDir(), "told")
		_, s := newAsker(t, mode+"asks reports: a'; dd bs=1 count=9 of="+told+" 2>/dev/null; printf '")
		r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Accept})
		if err != nil || !r.Confirmed {
			t.Fatalf("%q: %+v, %v", mode, r, err)
		}
		if bytes, err := os.ReadFile(told); string(bytes) != "\x1b[O\x1b[I\x1b[I" { // and a report that it reads right ahead of the key
			t.Errorf("%q: sent %q, %v", mode, bytes, err)
		}
	}
}

// What becomes another prompt before it could be answered was answered by no other
// caller: the answer says so, and where to look.
func TestRespondToOneAskedAnew(t *testing.T) {
	_, s := newAsker(t, "asks 1: later'; sleep 1; printf '\\033[2J\\033[Hasks 1: other")
	first := s.Status().Request.ID
	r, err := s.Respond(t.Context(), claim("c1"), first, agent.Answer{Kind: agent.Accept})
	if r != nil || code(err) != string(api.CodeStalePrompt) || !strings.Contains(fmt.Sprint(err), "was not answered: prompt one shows what it asks") {
		t.Errorf("%+v, %v", r, err)
	}
	if now := s.Status().Request; now == nil || now.ID == first {
		t.Errorf("the prompt is %+v", now)
	}
	if r, err := s.Respond(t.Context(), claim("c1"), first, agent.Answer{Kind: agent.Accept}); r != nil || !strings.Contains(fmt.Sprint(err), "was not answered") {
		t.Errorf("once more: %+v, %v", r, err)
	}
}

// TestRespondToOptionsUnseen: a number isn't an answer to options that the prompt did not show yet when
// the answer came. What says yes or no by its meaning is.
func TestRespondToOptionsUnseen(t *testing.T) {
	p, s := newAsker(t, "asks 1: late unread'; sleep 1; printf '\\033[2J\\033[Hasks 1: late")
	first := s.Status().Request
	if len(first.Options) != 0 {
		t.Fatalf("it has options: %+v", first)
	}
	option := agent.Answer{Kind: agent.ChooseOption, Option: 1}
	r, err := s.Respond(t.Context(), claim("c1"), first.ID, option)
	if r != nil || code(err) != string(api.CodeNotReady) || !strings.Contains(fmt.Sprint(err), "Look at prompt one, and answer again") {
		t.Errorf("unseen: %+v, %v", r, err)
	}
	p.counts(s.id, map[string]int{"input": 0, "respond": 0})
	if now := s.Status().Request; now == nil || now.ID != first.ID || len(now.Options) != 1 {
		t.Fatalf("the prompt is %+v", now)
	}
	if r, err := s.Respond(t.Context(), claim("c1"), first.ID, option); err != nil || !r.Confirmed {
		t.Errorf("seen: %+v, %v", r, err)
	}
}

// TestRespondToAReview: Berth sends answers chosen at the terminal only if the caller names the
// digest of the page that showed them.
func TestRespondToAReview(t *testing.T) {
	_, s := newAsker(t, "asks 1: review red")
	submit := agent.Answer{Kind: agent.ChooseOption, Option: 1}
	p := s.Status().Request
	for _, answer := range []agent.Answer{submit, {Kind: agent.Accept}} {
		if r, err := s.Respond(t.Context(), claim("c1"), p.ID, answer); r != nil || code(err) != string(api.CodeBadRequest) || !strings.Contains(fmt.Sprint(err), "--digest "+p.Digest) {
			t.Errorf("%s with the id alone: %+v, %v", answer.Kind, r, err)
		}
	}
	by := claim("c1")
	by.Digest = "0"
	if r, err := s.Respond(t.Context(), by, p.ID, submit); r != nil || code(err) != string(api.CodeStalePrompt) {
		t.Errorf("with another digest: %+v, %v", r, err)
	}
	by.Digest = p.Digest
	if r, err := s.Respond(t.Context(), by, p.ID, submit); err != nil || !r.Confirmed {
		t.Errorf("with its digest: %+v, %v", r, err)
	}
}

// redraws is an asker whose page changes before the first key, which it presses at the changed page.
type redraws struct {
	asker
	begun func()
}

func (r redraws) Fill(p *agent.Request, d *agent.Dialog) {
	r.asker.Fill(p, d)
	p.Text = &d.Body
}

func (r redraws) Keys(*agent.Request, agent.Answer, *agent.Dialog) (agent.KeyAnswer, error) {
	at := func(now *agent.Reading) bool { r.begun(); return now.Dialog.Body == "blue" }
	return agent.KeyAnswer{Steps: []agent.Step{{Key: "y", Wants: "the page", Ready: at}}, Outcome: agent.OutcomeAnswered}, nil
}

// TestRespondToAPageThatChanges: an answer with a digest presses no key if the page shows something else before the first key,
// under the same id.
func TestRespondToAPageThatChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "begun")
	driver := redraws{begun: func() {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Error(err)
		}
	}}
	page := "\\033[2J\\033[Hasks 1: review "
	p, s := newAskerOf(t, driver, "asks 1: review red'\nwhile ! [ -e '"+file+"' ]; do sleep 0.01; done\nprintf '"+page+"blue")
	before := s.Status().Request
	by := claim("c1")
	by.Digest = before.Digest
	if r, err := s.Respond(t.Context(), by, before.ID, agent.Answer{Kind: agent.ChooseOption, Option: 1}); r != nil || code(err) != string(api.CodeStalePrompt) {
		t.Errorf("%+v, %v", r, err)
	}
	if now := s.Status().Request; now == nil || now.ID != before.ID || now.Digest == before.Digest {
		t.Errorf("%+v, before %+v", now, before)
	}
	p.counts(s.id, map[string]int{"respond": 0})
}

// arrows is an asker whose second page is a row that an arrow goes to.
type arrows struct{ asker }

func (arrows) Keys(*agent.Request, agent.Answer, *agent.Dialog) (agent.KeyAnswer, error) {
	at := func(body string) func(*agent.Reading) bool {
		return func(r *agent.Reading) bool { return r.Dialog.Body == body }
	}
	return agent.KeyAnswer{Steps: []agent.Step{
		{Key: "j", Wants: "row a", Ready: at("a"), Again: true}, {Key: "y", Wants: "row b", Ready: at("b")},
	}, Outcome: agent.OutcomeAccepted}, nil
}

// TestRespondLostArrow: an arrow that the agent loses is pressed again, once.
func TestRespondLostArrow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "read")
	_, s := newAskerOf(t, arrows{}, "asks 1: a'; dd bs=1 count=2 of='"+file+"' 2>/dev/null; printf '\033[2J\033[Hasks 1: b")
	r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Accept})
	if err != nil || !r.Confirmed {
		t.Fatalf("%+v, %v", r, err)
	}
	if read, err := os.ReadFile(file); string(read) != "jj" {
		t.Errorf("%q, %v", read, err)
	}
}

// TestRespondToAFilledForm: a form without a schema may hold what was typed at the terminal, so Berth
// accepts it only if the caller names the digest of what was shown.
func TestRespondToAFilledForm(t *testing.T) {
	accept := agent.Answer{Kind: agent.Accept}
	_, s := newAsker(t, "asks 1: form typed")
	p := s.Status().Request
	if r, err := s.Respond(t.Context(), claim("c1"), p.ID, accept); r != nil || code(err) != string(api.CodeBadRequest) || !strings.Contains(fmt.Sprint(err), "look at prompt one, then add --digest "+p.Digest) {
		t.Errorf("with the id alone: %+v, %v", r, err)
	}
	by := claim("c1")
	by.Digest = p.Digest
	if r, err := s.Respond(t.Context(), by, p.ID, accept); err != nil || !r.Confirmed {
		t.Errorf("with its digest: %+v, %v", r, err)
	}
	_, s = newAsker(t, "asks 1: form")
	if r, err := s.Respond(t.Context(), claim("c1"), "", accept); err != nil || !r.Confirmed {
		t.Errorf("an empty one: %+v, %v", r, err)
	}
}

// TestRespondToOneThatDrawsFirst: its dialog must have been shown for a while, unless its title
// says that it listens, and the pages after the first must have, too.
func TestRespondToOneThatDrawsFirst(t *testing.T) {
	for _, c := range []struct {
		title string
		least time.Duration
		most  time.Duration
	}{{"", 2 * stoodFor, time.Minute}, {`\033]0;listens\007`, stoodFor, 2*stoodFor - 50*time.Millisecond}} {
		_, s := newAsker(t, "asks 1: a x"+c.title, "asks 1: b x")
		begun := s.Status().Request.Since.Time
		r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Cancel})
		if err != nil || !r.Confirmed {
			t.Fatalf("%+v, %v", r, err)
		}
		if took := time.Since(begun); took < c.least || took > c.most {
			t.Errorf("with the title %q it took %v", c.title, took)
		}
	}
}

// TestRespondTypesNoKeys: where a terminal takes no paste, a line's end in an
// answer would be a key, and may choose.
func TestRespondTypesNoKeys(t *testing.T) {
	p, s := newAsker(t, "asks 1: a")
	for _, text := range []string{"one\ntwo", "one\ttwo"} {
		if r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.AnswerText, Text: text}); code(err) != string(api.CodeNotReady) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
	p.counts(s.id, map[string]int{"input": 0, "respond": 0})
	if r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.AnswerText, Text: "y"}); err != nil || !r.Confirmed {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRespondToOneThatLooksTheSame: when two dialogs in a row look the same, an answer to the
// first does not answer the second.
func TestRespondToOneThatLooksTheSame(t *testing.T) {
	for _, person := range []bool{false, true} {
		_, s := newAsker(t, "asks 1: a alike", "asks 1: a alike")
		first := s.Status().Request.ID
		if person {
			if err := s.Deliver(t.Context(), claim("c2"), []byte("y")); err != nil {
				t.Fatal(err)
			}
		} else if r, err := s.Respond(t.Context(), claim("c1"), first, agent.Answer{Kind: agent.Accept}); code(err) != string(api.CodeUnconfirmed) {
			t.Errorf("%+v, %v", r, err)
		}
		if r, err := s.Respond(t.Context(), claim("c1"), first, agent.Answer{Kind: agent.Accept}); code(err) != string(api.CodeStalePrompt) {
			t.Errorf("person %v: an answer to the first: %+v, %v", person, r, err)
		}
		second := within(t, s, "the second", func(st *Status) bool { return st.Request != nil && st.Request.ID != first }).Request.ID
		if r, err := s.Respond(t.Context(), claim("c1"), second, agent.Answer{Kind: agent.Accept}); err != nil || !r.Confirmed {
			t.Errorf("person %v: the second: %+v, %v", person, r, err)
		}
	}
}

// TestRespondCallerLost: what was begun is ended, and emitted once.
func TestRespondCallerLost(t *testing.T) {
	p, s := newAsker(t, "asks 1: a x", "asks 1: b x")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Respond(ctx, claim("c1"), "", agent.Answer{Kind: agent.AnswerEach})
		done <- err
	}()
	within(t, s, "the first key", func(*Status) bool { return len(p.log(s.id)["input"]) > 0 })
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	shows(t, s, "rests")
	within(t, s, "its end", func(st *Status) bool { return st.Request == nil })
	p.counts(s.id, map[string]int{"respond": 1, "prompt_resolved": 1})
	if raw := string(p.log(s.id)["respond"][0].Raw); !strings.Contains(raw, `"confirmed":true`) {
		t.Error(raw)
	}
}

// TestRespondToOneThatEnds: the first key of two ends the program. The answer was taken, as far
// as one can know, and the server goes on.
func TestRespondToOneThatEnds(t *testing.T) {
	p, s := newAsker(t, "asks 1: a x", "'; exit; printf '")
	r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.AnswerEach})
	if c := code(err); c != string(api.CodeExited) && c != string(api.CodeStalePrompt) { // it clears its screen, and then ends
		t.Errorf("%+v, %v", r, err)
	}
	within(t, s, "its end", func(st *Status) bool { return st.Exit != nil })
	p.counts(s.id, map[string]int{"respond": 1, "exited": 1})
}

// TestRespondToOneThatIsLeft: the dialog goes after the first key of two. The error says that a part of the
// answer was typed, and what to do.
func TestRespondToOneThatIsLeft(t *testing.T) {
	_, s := newAsker(t, "asks 1: a x", "left")
	r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.AnswerEach})
	const want = "only a part of the answer was typed: the dialog was answered or left meanwhile. Look at screen one. If its dialog is still open, finish the answer there: attach one"
	if r != nil || code(err) != string(api.CodeStalePrompt) || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRespondUnconfirmed: the key was pressed and changed nothing. That is
// emitted once, also when the server is killed before it knows, with or without a checkpoint that has the prompt.
func TestRespondUnconfirmed(t *testing.T) {
	for _, killed := range []string{"", "checkpoint", "none"} {
		p, s := newAsker(t, "asks 1: a", "asks 1: a")
		kept, prompt := checkpointOf(t, s), s.Status().Request.ID
		for end := time.Now().Add(patience); !strings.Contains(string(kept), prompt); kept = checkpointOf(t, s) {
			if time.Now().After(end) {
				t.Fatal("no checkpoint has the prompt")
			}
			time.Sleep(10 * time.Millisecond)
		}
		if killed == "none" {
			kept = nil // the journal is read from its beginning, and doesn't show when a dialog was seen
		}
		if killed != "" {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				_, _ = s.Respond(ctx, claim("c1"), "", agent.Answer{Kind: agent.Accept})
				close(done)
			}()
			within(t, s, "the key", func(*Status) bool { return len(p.log(s.id)["input"]) > 0 })
			cancel()
			<-done
			p.crash(s, kept)
			s = p.find("one")
		} else if r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Accept}); code(err) != string(api.CodeUnconfirmed) || !r.Delivered || r.Confirmed {
			t.Errorf("%+v, %v", r, err)
		}
		deadline := time.Now().Add(patience)
		for len(p.log(s.id)["respond"]) == 0 && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		p.counts(s.id, map[string]int{"respond": 1})
		if all := p.log(s.id)["respond"]; len(all) == 1 && !strings.Contains(string(all[0].Raw), `"delivered":true,"confirmed":false`) {
			t.Errorf("killed %q: %s", killed, all[0].Raw)
		}
	}
}
