package tui

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/sessions"
	"berth/terminal"
	"berth/terminal/paint"
)

// asking is a dashboard with one session that asks r, for a person who may answer.
func asking(cols, rows int, r *agent.Request) *Model {
	s := at("alpha", agent.Prompt, 1)
	r.ID, r.Ready, r.OnScreen = "p1", true, true
	s.Request, s.Requests = r, []*agent.Request{r}
	w := world(s)
	w.May = Rights{"attach": true, "screen": true, "respond": true, "nudge": true}
	return started(cols, rows, w)
}

func permission() *agent.Request {
	r := &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Options: []string{"Yes", "Yes, always", "No"}}
	r.SetInput("npm install express")
	return r
}

var later = noon.Add(time.Second)

// ran returns the words and the standard input of an effect that must be an act.
func ran(t *testing.T, e Effect) (string, string) {
	t.Helper()
	a, ok := e.(Act)
	if !ok {
		t.Fatalf("got effect %#v, want an act", e)
	}
	return strings.Join(a.Words, " "), a.Stdin
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		keys  []string
		words string
		stdin string
	}{
		{[]string{"2"}, "respond id-alpha --prompt p1 option 2", ""},
		{[]string{"y"}, "respond id-alpha --prompt p1 accept", ""},
		{[]string{"d", "enter"}, "respond id-alpha --prompt p1 deny", ""},
		{[]string{"d", "n", "o", " ", "2", "enter"}, "respond id-alpha --prompt p1 deny -", "no 2"},
	} {
		m := asking(80, 24, permission())
		if got, in := ran(t, press(m, later, c.keys...)); got != c.words || in != c.stdin {
			t.Errorf("%v runs %q with %q", c.keys, got, in)
		}
	}
}

// TestOnlyWhatWasRead: a key right after a card was drawn was meant for the card before and does nothing.
// An answer names the prompt that was drawn.
func TestOnlyWhatWasRead(t *testing.T) {
	m := asking(80, 24, permission())
	one := Key{Name: "1", Text: "1"}
	if e := m.Press(one, later); e != nil {
		t.Errorf("a key before the card is drawn: got effect %v, want none", e)
	}
	drawn(m)
	m.Drawn(7)
	m.Shown(6, later) // a reply to an earlier query
	if e := m.Press(one, later.Add(2*settleTime)); e != nil {
		t.Errorf("a key before the terminal has drawn the card: got effect %v, want none", e)
	}
	m.Shown(7, noon)
	if e := m.Press(one, noon.Add(settleTime/2)); e != nil || m.flash.text != justUp {
		t.Errorf("a key at once: got effect %v and message %q, want none and %q", e, m.flash.text, justUp)
	}
	w := m.world
	s := *w.Sessions[0]
	next := *s.Request
	next.ID = "p2"
	s.Request, s.Requests = &next, []*agent.Request{&next}
	m.SetWorld(World{Sessions: []*sessions.Status{&s}, May: w.May}, later)
	shown(m, later)
	if e := m.Press(one, later.Add(settleTime/2)); e != nil {
		t.Errorf("a key right after the next prompt: got effect %v, want none", e)
	}
	// The options have been read and are others, so the keys mean something else.
	read := next
	read.Options = []string{"Yes", "No"}
	s2 := s
	s2.Request, s2.Requests = &read, []*agent.Request{&read}
	m.SetWorld(World{Sessions: []*sessions.Status{&s2}, May: w.May}, later.Add(settleTime))
	if e := m.Press(one, later.Add(2*settleTime)); e != nil || !m.Undrawn() {
		t.Errorf("a key right after other options: got effect %v, want none", e)
	}
	// If the terminal stops answering, the key works after answersWithin.
	drawn(m)
	m.Drawn(8)
	if e := m.Press(one, later.Add(2*settleTime+answersWithin-1)); e != nil {
		t.Errorf("a key before answersWithin: got effect %v, want none", e)
	}
	if got, _ := ran(t, m.Press(one, later.Add(2*settleTime+answersWithin))); got != "respond id-alpha --prompt p2 option 1" {
		t.Errorf("runs %q", got)
	}
	m.SetWorld(World{Sessions: []*sessions.Status{&s}, May: w.May}, later)
	if got, _ := ran(t, press(m, later.Add(2*settleTime), "1")); got != "respond id-alpha --prompt p2 option 1" {
		t.Errorf("runs %q", got)
	}
	// A reason that was begun for another prompt goes to that prompt.
	m = asking(80, 24, permission())
	press(m, later, "d", "w", "h", "y")
	m.SetWorld(World{Sessions: []*sessions.Status{&s}, May: w.May}, later)
	if got, _ := ran(t, press(m, later, "enter")); got != "respond id-alpha --prompt p1 deny -" {
		t.Errorf("runs %q", got)
	}
}

func TestViewerCannotAnswer(t *testing.T) {
	m := asking(80, 24, permission())
	m.world.May = Rights{"screen": true, "attach": true}
	for _, k := range []string{"1", "y", "d", "t", "n", "c", "f"} {
		if e := press(m, later, k); e != nil || m.edit != nil {
			t.Errorf("%s does %v", k, e)
		}
	}
	m.flash = flash{}
	for _, said := range []string{"1-3", "answer", "message", "reason"} {
		if strings.Contains(drawn(m), said) {
			t.Errorf("a viewer sees %q", said)
		}
	}
	press(m, later, "?")
	if shown := drawn(m); strings.Contains(shown, "option") || strings.Contains(shown, "message") {
		t.Error("help lists keys that a viewer may not use")
	}
}

func TestQuestionsStepByStep(t *testing.T) {
	r := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{
		{Header: "Store", Text: "Which?", Options: []string{"Postgres", "SQLite"}, Descriptions: []string{"a server", "a file"}},
		{Header: "Parts", Text: "Which parts?", Options: []string{"a", "b", "c"}, MultiSelect: true},
		{Header: "Cache", Text: "And?", Options: []string{"none"}},
	}}
	m := asking(100, 30, r)
	press(m, later, "2")
	if shown := drawn(m); !strings.Contains(shown, "Question 2 of 3 · Parts") || !strings.Contains(shown, "several may be chosen") {
		t.Fatalf("after the first answer it shows\n%s", shown)
	}
	press(m, later, "1", "3", "2", "2", "enter", "t", "R", "e", "d", "i", "s", "enter")
	if shown := drawn(m); !strings.Contains(shown, "Parts: a, c") || !strings.Contains(shown, "Cache: Redis") || strings.Contains(shown, "And?") || strings.Contains(shown, "Question 3") {
		t.Fatalf("at the end it shows\n%s", shown)
	}
	press(m, later, "backspace", "t", "x", "enter")
	got, in := ran(t, press(m, later, "enter"))
	if got != "respond id-alpha --prompt p1 -" {
		t.Errorf("runs %q", got)
	}
	var sent any
	want := map[string]any{"answers": []any{map[string]any{"options": []any{2.0}}, map[string]any{"options": []any{1.0, 3.0}}, map[string]any{"text": "x"}}}
	if err := json.Unmarshal([]byte(in), &sent); err != nil || !reflect.DeepEqual(sent, want) {
		t.Errorf("sends %s", in)
	}
}

func TestForm(t *testing.T) {
	r := &agent.Request{Type: agent.PromptForm, Text: agent.Pointer("Where?"), Options: []string{"Accept", "Decline"}, Schema: []byte(`{"type":"object","required":["name"],"properties":{
		"name":{"type":"string","title":"Name"},"size":{"type":"integer"},"kind":{"type":"string","enum":["a","b"],"enumNames":["Big","Small"]},"sure":{"type":"boolean","title":"Sure?"}}}`)}
	m := asking(100, 30, r)
	if e := press(m, later, "1"); e != nil {
		t.Errorf("a digit at a form: got effect %v, want none", e)
	}
	press(m, later, "f", "enter", "enter")
	if m.flash.text != "Name is required" {
		t.Errorf("an empty name says %q", m.flash.text)
	}
	press(m, later, "A", "n", "n", "enter", "enter", "x", "enter")
	if m.flash.text != "size must be a number" {
		t.Errorf("a wrong number says %q", m.flash.text)
	}
	press(m, later, "backspace", "7", "enter", "2", "1")
	got, in := ran(t, press(m, later, "enter"))
	if got != "respond id-alpha --prompt p1 -" || in != `{"action":"accept","content":{"kind":"b","name":"Ann","size":7,"sure":true}}` {
		t.Errorf("runs %q with %s", got, in)
	}
	m = asking(100, 30, r)
	if got, _ := ran(t, press(m, later, "c")); got != "respond id-alpha --prompt p1 cancel" {
		t.Errorf("c runs %q", got)
	}
}

// TestFieldsOfAForm: the card shows the fields and their defaults before the person accepts the form.
func TestFieldsOfAForm(t *testing.T) {
	r := &agent.Request{Type: agent.PromptForm, Text: agent.Pointer("Go on?"), Options: []string{"Accept", "Decline"}, Schema: []byte(`{"type":"object","properties":{
		"wipe":{"type":"boolean","title":"Wipe","description":"deletes the database","default":true},"note":{"type":"string"}}}`)}
	shown := drawn(asking(100, 30, r))
	for _, want := range []string{"Go on?", "· Wipe: deletes the database, default true", "· note"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown:\n%s", want, shown)
		}
	}
}

// TestWholeInput: all of a long input can be scrolled into view, and hidden characters are shown.
func TestWholeInput(t *testing.T) {
	r := permission()
	r.SetInput(strings.Repeat("rm -rf one/two/three\n", 40) + "echo \u202elive\u200b\x1b[8m\tdone")
	m := asking(80, 24, r)
	seen := drawn(m)
	for range 20 {
		press(m, later, "J")
		seen += drawn(m)
	}
	for _, want := range []string{"⟨U+202E⟩", "⟨U+200B⟩", "␛[8m␉done", "lines; J K scroll"} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	for _, evil := range []string{"\u202e", "\u200b", "\x1b"} {
		if strings.Contains(seen, evil) {
			t.Errorf("%q is shown", evil)
		}
	}
	r.FullInput, r.InputBytes = "", 5000
	if shown := drawn(m); !strings.Contains(shown, "cut here") {
		press(m, later, "J", "J", "J")
		if shown = drawn(m); !strings.Contains(shown, "cut here") {
			t.Errorf("no line says that the input is cut:\n%s", shown)
		}
	}
}

func TestDrafts(t *testing.T) {
	m := asking(80, 24, permission())
	m.world.Sessions[0].Driven, m.world.Sessions[0].Now = true, agent.Idle
	press(m, later, "m", "h", "i", "alt+enter", "y", "o", "u")
	e := press(m, later, "enter")
	if got, in := ran(t, e); got != "nudge id-alpha -" || in != "hi\nyou" {
		t.Fatalf("runs %q with %q", got, in)
	}
	m.Finish(Done{Act: e.(Act), Status: 5, Out: `{"error":{"code":"DRAFT_PRESENT","message":"a draft"}}`}, later)
	if !strings.Contains(m.flash.text, "ctrl-s") {
		t.Errorf("after the refusal the message is %q", m.flash.text)
	}
	press(m, later, "m")
	if m.editor.text != "hi\nyou" {
		t.Errorf("the editor has %q, want the kept text", m.editor.text)
	}
	e = press(m, later, "ctrl+s")
	if got, _ := ran(t, e); got != "nudge --stash id-alpha -" {
		t.Errorf("runs %q", got)
	}
	m.Finish(Done{Act: e.(Act), Out: `{"delivered":true,"confirmed":true,"evidence":"hook:UserPromptSubmit"}`}, later)
	if !strings.Contains(m.flash.text, "confirmed by hook:UserPromptSubmit") {
		t.Errorf("says %q", m.flash.text)
	}
	press(m, later, "m")
	if m.editor.text != "" {
		t.Errorf("after the message was sent the editor has %q, want nothing", m.editor.text)
	}
	press(m, later, "x", "esc", "m")
	if m.editor.text != "x" {
		t.Error("closing the editor loses the text")
	}
}

func TestVerdicts(t *testing.T) {
	for out, want := range map[string]string{
		`0 {"outcome":"accepted","confirmed":true,"state":"working"}`:                                "alpha: accepted, confirmed · now working",
		`0 {"outcome":"denied","confirmed":false,"state":"idle"}`:                                    "alpha: denied, not confirmed · now idle",
		`6 {"outcome":"answered_elsewhere","error":{"code":"STALE_PROMPT","message":"x"}}`:           "alpha: answered elsewhere, another client was first",
		`9 {"outcome":"accepted","error":{"code":"UNCONFIRMED","message":"no source reports it"}}`:   "alpha: unconfirmed: no source reports it",
		`9 {"error":{"code":"UNCONFIRMED","message":"alpha works on: it had no effect"}}`:            "alpha: unconfirmed: works on: it had no effect",
		`5 {"error":{"code":"AGENT_BUSY","message":"alpha did not get the message: it works"}}`:      "alpha did not get the message: it works",
		`6 {"error":{"code":"STALE_PROMPT","message":"it asks something else"}}`:                     "alpha: it asks something else",
		`4 {"error":{"code":"DENIED","message":"respond needs the role responder and v is viewer"}}`: "alpha: respond needs the role responder and v is viewer",
		`7 ` + "": "alpha: respond failed with status 7",
	} {
		m := asking(80, 24, permission())
		status, answer, _ := strings.Cut(out, " ")
		m.doing = 1
		m.Finish(Done{Act: Act{Kind: "respond", Name: "alpha"}, Status: int(status[0] - '0'), Out: answer}, later)
		if m.flash.text != want {
			t.Errorf("%s says %q, want %q", out, m.flash.text, want)
		}
	}
}

func TestEditor(t *testing.T) {
	e := newEditor("", false)
	for _, k := range []Key{
		{Name: "paste", Text: "eins\r\nzwei drei\n漢字"}, {Name: "up"}, {Name: "home"}, {Name: "x", Text: "x"}, {Name: "end"}, {Name: "ctrl+w"},
		{Name: "down"}, {Name: "end"}, {Name: "backspace"}, {Name: "left"}, {Name: "delete"}, {Name: "é", Text: "é"},
	} {
		e.press(k)
	}
	if e.text != "eins\nxzwei \né" {
		t.Errorf("%q", e.text)
	}
	f := NewFrame(10, 5)
	e.draw(f.all(), terminal.Style{})
	if got := strings.Join(f.Text(), "|"); got != "eins|xzwei|é||" || f.cursor.Row != 2 || f.cursor.Col != 1 {
		t.Errorf("%q, cursor %+v", got, f.cursor)
	}
	one := newEditor("", true)
	one.press(Key{Name: "paste", Text: "a\nb c\t"})
	one.press(Key{Name: " ", Text: " "})
	if one.text != "a b c  " {
		t.Errorf("%q", one.text)
	}
}

// TestCardFits: at every size the card is drawn within its area, without a panic.
func TestCardFits(t *testing.T) {
	r := permission()
	r.SetInput(strings.Repeat("漢字 wide\n", 30))
	for cols := 1; cols < 130; cols += 7 {
		for rows := 1; rows < 40; rows += 3 {
			m := asking(cols, rows, r)
			m.detail = true
			sc := newScreen(paint.Look{})
			sc.resize(cols, rows)
			sc.draw(m)
			m.world.Sessions[0].Driven = true
			press(m, later, "m", "a")
			sc.draw(m)
		}
	}
}

// under changes what a session asks, under the same prompt id.
func under(m *Model, r *agent.Request) World {
	s := *m.world.Sessions[0]
	r.ID, r.Ready, r.OnScreen = "p1", true, true
	r.Sign()
	s.Request, s.Requests = r, []*agent.Request{r}
	return World{Sessions: []*sessions.Status{&s}, May: m.world.May}
}

// TestReadToItsEnd: a key allows a prompt only after its last row was on the screen at the current size.
// A refusal works at once.
func TestReadToItsEnd(t *testing.T) {
	long := permission()
	long.SetInput("true\n" + strings.Repeat("echo harmless\n", 150) + "rm -rf ~")
	for _, size := range [][2]int{{80, 24}, {40, 20}, {120, 40}, {20, 12}, {40, 7}, {30, 5}} {
		m := asking(size[0], size[1], long)
		m.detail = true
		seen := ""
		down := 0
		for ; down < 400; down++ {
			seen += drawn(m)
			for _, k := range []string{"y", "1", "3"} {
				if e := press(m, later, k); e != nil && m.card.scroll < m.card.last {
					t.Fatalf("%v: key %[4]s at row %[2]d of %[3]d: got effect %[5]v, want none", size, m.card.scroll, m.card.rows, k, e)
				} else if e != nil {
					goto read
				}
			}
			if size[0] >= 40 && !strings.Contains(m.flash.text, "to the end first") {
				t.Fatalf("%v: y says %q", size, m.flash.text)
			}
			press(m, later, "pgdown", "J")
		}
	read:
		if down == 0 || down >= 400 || !strings.Contains(seen, "rm -rf ~") {
			t.Errorf("%v: answered after %d keys", size, down)
		}
		m = asking(size[0], size[1], long)
		m.detail = true
		press(m, later, "J", "d")
		if m.edit == nil {
			t.Errorf("%v: the refusal does nothing", size)
		}
	}

	// Keys that come faster than pictures skip no row.
	m := asking(80, 24, long)
	shown(m, noon)
	for range 400 {
		m.Press(Key{Name: "J"}, later)
	}
	if shown(m, later); m.card.scroll >= m.card.last {
		t.Errorf("the card is at row %d of %d", m.card.scroll, m.card.rows)
	}
	// The last rows were just drawn, and the terminal hasn't shown them yet.
	for m.card.read < m.card.rows {
		press(m, later, "J")
		drawn(m)
	}
	if e := m.Press(Key{Name: "y", Text: "y"}, later.Add(settleTime)); e != nil || !m.Undrawn() {
		t.Errorf("y before the last rows are shown: got effect %v, want none", e)
	}
	if m.Press(Key{Name: "d", Text: "d"}, later); m.edit == nil {
		t.Error("the refusal waits for the last rows")
	}
	// At another width the card must be read again.
	m = asking(80, 24, long)
	for range 100 {
		press(m, later, "J")
	}
	shown(m, later)
	m.Resize(60, 24)
	if e := press(m, later, "y"); e != nil {
		t.Errorf("y at another width: got effect %v, want none", e)
	}
	// Rows that the editor covers don't count as read.
	m = asking(80, 24, permission())
	m.world.Sessions[0].Driven = true
	press(m, later, "d")
	m.SetWorld(under(m, long), later)
	if drawn(m); m.card.read != 0 {
		t.Errorf("%d rows under the editor count as read", m.card.read)
	}
}

// TestEachQuestionRead: options that have no room scroll with the question. Each question can be answered
// only after it was drawn.
func TestEachQuestionRead(t *testing.T) {
	q := agent.Question{Text: "Which?", Options: []string{"a", "b", "c", "d", "e", "f", "g", "h", "the last"}}
	r := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{q, q}}
	m := asking(40, 10, r)
	m.detail = true
	if press(m, later, "9"); m.card.step != 0 {
		t.Error("a key chose an option that was not shown")
	}
	seen := ""
	for range 20 {
		press(m, later, "J")
		seen += drawn(m)
	}
	if press(m, later, "9"); !strings.Contains(seen, "the last") || m.card.step != 1 {
		t.Errorf("after all was shown the card is at question %d:\n%s", m.card.step, drawn(m))
	}
	if m.Press(Key{Name: "1", Text: "1"}, later.Add(time.Hour)); m.card.review {
		t.Error("a key answered the second question before it was drawn")
	}
}

// TestChangedUnderItsID: a prompt's content may change under the same id. Then the card must be read
// again, and a started answer is dropped.
func TestChangedUnderItsID(t *testing.T) {
	m := asking(80, 24, permission())
	m.SetWorld(under(m, permission()), noon)
	if got, _ := ran(t, press(m, later, "y")); got != "respond id-alpha --prompt p1 --digest "+m.card.digest+" accept" || m.card.digest == "" {
		t.Errorf("runs %q", got)
	}
	evil := permission()
	evil.SetInput("rm -rf ~")
	m.SetWorld(under(m, evil), later)
	for _, k := range []string{"y", "1"} {
		if e := m.Press(Key{Name: k, Text: k}, later.Add(time.Hour)); e != nil {
			t.Errorf("key %s before the new card is drawn: got effect %v, want none", k, e)
		}
	}
	// A reply is for the question that was drawn when the person began to write.
	ask := func(text string) *agent.Request {
		r := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: text, Options: []string{"a"}}}}
		r.ID = "p1"
		r.Sign()
		return r
	}
	m = asking(80, 24, ask("One?"))
	was := m.card.digest
	press(m, later, "t", "x")
	m.SetWorld(under(m, ask("Two?")), later)
	if got, _ := ran(t, press(m, later, "enter")); got != "respond id-alpha --prompt p1 --digest "+was+" text -" || was == m.card.digest {
		t.Errorf("runs %q", got)
	}
	several := func(text string) *agent.Request {
		r := ask(text)
		r.Questions = append(r.Questions, r.Questions[0])
		return r
	}
	m = asking(80, 24, several("One?"))
	press(m, later, "1", "t", "x")
	m.SetWorld(under(m, several("Two?")), later)
	if e := press(m, later, "enter"); e != nil || len(m.card.picks) > 0 || m.flash.text != changed {
		t.Errorf("got effect %v, picks %v, message %q", e, m.card.picks, m.flash.text)
	}
}

// TestNotAllOfIt: a prompt whose input the card doesn't have whole can be allowed only at the terminal.
func TestNotAllOfIt(t *testing.T) {
	part, odd, files := permission(), permission(), permission()
	files.SetInPart()
	part.InputBytes, part.InputTruncated, part.FullInput = 5000, true, ""
	odd.Contested = true
	for _, r := range []*agent.Request{part, odd, files} {
		m := asking(80, 24, r)
		for _, k := range []string{"y", "1", "2", "3"} {
			if e := press(m, later, k); e != nil || !strings.Contains(m.flash.text, "attach, and answer there") {
				t.Errorf("key %s: got effect %v and message %q", k, e, m.flash.text)
			}
		}
		if shown := drawn(m); strings.Contains(shown, "y allow") || !strings.Contains(shown, "attach to answer") {
			t.Errorf("the card shows\n%s", shown)
		}
		if press(m, later, "d"); m.edit == nil {
			t.Error("the refusal does nothing")
		}
	}
}
