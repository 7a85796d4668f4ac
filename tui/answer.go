package tui

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"berth/agent"
	"berth/render"
	"berth/sessions"
)

// card is how far the person is with answering a prompt.
type card struct {
	prompt  string // the drawn prompt's id
	digest  string // the drawn prompt's digest
	offers  string // the drawn options
	cut     bool   // a part of the prompt may be missing
	hidden  bool   // the session's screen is shown instead
	leaf           // the part that is drawn
	sight          // how much of that part the terminal has shown
	picks   []agent.QuestionPick
	chosen  map[int]bool // the ticked options of a question that takes several
	fields  []field
	content map[string]any
	filled  bool          // the rest of a prompt of another host is asked for
	asks    bool          // the files that it would change are asked for
	files   []render.File // these, in their order
	laid    laidSubject
}

// leaf is a part of a card that the person reads and answers separately.
type leaf struct {
	step    int  // index of the question, or of the form's field
	review  bool // everything is answered and can be sent
	filling bool // the person fills in a form
}

// syncCard starts a new card when the chosen session asks something else, even under the same id, or
// offers other options.
func (m *Model) syncCard() {
	now := card{}
	if s := m.current(); s != nil && s.Request != nil {
		now.prompt, now.digest, now.offers = s.Request.ID, s.Request.Digest, offersOf(s.Request)
		now.cut = m.world.Cut[s.ID]
	}
	c := &m.card
	switch {
	case c.prompt != now.prompt:
		*c = now
	case c.digest != now.digest || c.offers != now.offers || c.cut != now.cut:
		if now.hidden, now.filled = c.hidden, c.filled && c.digest == now.digest; c.begun() {
			m.Flash(changed, waits)
		}
		*c = now
	case c.of != c.leaf:
		c.sight = sight{of: c.leaf}
	}
}

// changed is the message when a started answer no longer fits the prompt.
const changed = "the question has changed: read it again"

// begun reports whether the person has given a part of the answer.
func (c *card) begun() bool { return c.step > 0 || len(c.chosen) > 0 || c.review || c.filling }

// offersOf is the text that the keys of a prompt's card refer to. It includes the options, because
// the digest of a sign-in page does not cover them.
func offersOf(r *agent.Request) string {
	all := slices.Clone(r.Options)
	for _, q := range r.Questions {
		all = append(append(all, q.Text), q.Options...)
	}
	return strings.Join(all, "\x00")
}

// refuses are the kinds of keys that allow nothing. They work before the card was read to its end.
var refuses = map[string]bool{"deny": true, "cancel": true, "leave": true, "back": true}

// partly says why a prompt can be allowed only at its terminal. It is empty if the card shows the
// whole prompt.
func partly(r *agent.Request) string {
	switch {
	case r.Contested:
		return "the dialog may ask something else than the agent reported: attach, and answer there"
	case r.InPart():
		return "its dialog shows only a part of what it would do: attach, and answer there"
	case missing(r) > 0:
		return "the card has only a part of the input: attach, and answer there"
	}
	return ""
}

// partly is like the function, for the chosen session's prompt. That of another host is whole if it has the digest.
func (m *Model) partly(r *agent.Request) string {
	if why := partly(r); why != "" || !m.world.Cut[m.selected] {
		return why
	}
	return "the card may lack a part of what " + hostOf(m.current()) + " asks: attach, and answer there"
}

// missing is how many bytes of the input the card does not have.
func missing(r *agent.Request) int {
	if r.Input == nil {
		return 0
	}
	left := r.InputBytes - len(inputOf(r))
	if r.InputTruncated && r.FullInput == "" {
		left = max(left, 1)
	}
	return max(left, 0)
}

// inputOf is as much of a prompt's input as the server has stored.
func inputOf(r *agent.Request) string {
	if r.FullInput != "" || r.Input == nil {
		return r.FullInput
	}
	return *r.Input
}

// tooEarly says why a key isn't accepted yet. It is empty if the key is accepted.
func (m *Model) tooEarly(r *agent.Request, kind string) string {
	switch why := m.partly(r); {
	case refuses[kind] && (m.card.met || m.settled()):
		return ""
	case refuses[kind]:
		return justUp
	case why != "":
		return why
	case m.readAll() && m.settled():
		return ""
	case m.card.last > 0 && !m.readAll():
		return "J/K or PageDown " + toEnd
	}
	return justUp
}

const justUp = "this prompt has just appeared: read it and press again"

// carded reports whether the chosen session's prompt is shown.
func (m *Model) carded() bool {
	s := m.current()
	return s != nil && s.Request != nil && m.layout().preview && !m.card.hidden
}

// pressCard handles a key that belongs to the card. It returns false if the key doesn't.
func (m *Model) pressCard(k Key) (Effect, bool) {
	s := m.current()
	if !m.carded() {
		return nil, false
	}
	switch paged := m.card.last > 0; {
	case k.Name == "J" || k.Name == "ctrl+d" || paged && k.Name == "pgdown":
		m.scrollCard(true)
		return nil, true
	case k.Name == "K" || k.Name == "ctrl+u" || paged && k.Name == "pgup":
		m.scrollCard(false)
		return nil, true
	}
	if !m.world.May["respond"] {
		return nil, false
	}
	kind := kindOf(k.Name)
	if k.Name == "q" && m.card.begun() {
		kind = "leave"
	}
	if !m.answersTo(s.Request)[kind] {
		return nil, false
	}
	if why := m.tooEarly(s.Request, kind); why != "" {
		m.Flash(why, waits)
		return nil, true
	}
	return m.answerKey(s, kind, k), true
}

// kindOf is what a key does on a card.
func kindOf(key string) string {
	if len(key) == 1 && key[0] >= '1' && key[0] <= '9' {
		return "option"
	}
	return map[string]string{"y": "accept", "d": "deny", "t": "text", "c": "cancel", "f": "fill", "enter": "enter", "backspace": "back", "esc": "leave"}[key]
}

// answersTo are the kinds of keys that a prompt takes now.
func (m *Model) answersTo(r *agent.Request) map[string]bool {
	begun := m.card.begun()
	a := map[string]bool{"leave": begun, "back": begun}
	options, _ := optionsOf(r, m.card.step)
	switch {
	case m.card.filling:
		f := m.field()
		a["option"], a["enter"] = f != nil && len(f.options) > 0, m.card.review || f != nil
		return a
	case m.card.review:
		a["enter"] = true
		return a
	}
	a["option"] = len(options) > 0
	switch r.Type {
	case agent.PromptPermission, agent.PromptPlan:
		a["accept"], a["deny"] = true, true
	case agent.PromptQuestion:
		a["deny"], a["text"] = !begun, true
		// Take Enter even if nothing is chosen. Otherwise it would attach, and the next Enter would
		// answer the dialog.
		a["enter"] = begun || several(r, m.card.step)
	case agent.PromptForm:
		a["option"], a["accept"], a["deny"], a["cancel"], a["fill"] = false, true, true, true, len(r.Schema) > 0
	case agent.PromptSetup:
		a["accept"], a["text"], a["deny"] = r.URL == nil, r.URL != nil, r.URL != nil
	case agent.PromptNotice:
		a["option"], a["deny"] = false, true
	}
	return a
}

// cardHints are the keys of a card that the person may use and that work now.
func (m *Model) cardHints(r *agent.Request) []hint {
	if !m.world.May["respond"] {
		return nil
	}
	a := m.answersTo(r)
	var list []hint
	add := func(kind, key, does string) {
		if a[kind] {
			list = append(list, hint{key, does})
		}
	}
	switch {
	case m.partly(r) != "":
		a = only(a, refuses)
		if m.world.May["attach"] {
			list = append(list, hint{"o", "attach to answer"})
		}
	case !m.readAll():
		a = only(a, refuses)
		list = append(list, hint{"J", toEnd})
		if m.card.width >= wideFoot {
			list[0].key = "J/K or PageDown"
		}
	}
	options, _ := optionsOf(r, m.card.step)
	if m.card.filling {
		options = nil
		if f := m.field(); f != nil {
			options = f.options
		}
	}
	if n := min(len(options), 9); a["option"] && n > 0 {
		does := "answer"
		if several(r, m.card.step) && !m.card.filling {
			does = "choose"
		}
		list = append(list, hint{map[bool]string{true: "1", false: "1-" + strconv.Itoa(n)}[n == 1], does})
	}
	switch f := m.field(); {
	case !a["enter"]:
	case m.card.review:
		add("enter", "enter", "send")
	case m.card.filling && f != nil && len(f.options) == 0:
		add("enter", "enter", "write")
	case m.card.filling || len(m.card.chosen) > 0:
		add("enter", "enter", "next")
	}
	accept, deny := "allow", "deny"+m.ellipsis()
	switch r.Type {
	case agent.PromptNotice:
		deny = "close"
	case agent.PromptForm:
		accept, deny = "accept", "decline"
	case agent.PromptPlan:
		accept = "accept"
	case agent.PromptSetup:
		accept, deny = "accept", "deny"
	}
	add("accept", "y", accept)
	add("deny", "d", deny)
	add("text", "t", "type a reply")
	add("fill", "f", "fill in")
	add("cancel", "c", "cancel")
	add("back", "backspace", "back")
	return list
}

// wideFoot is the minimum width of a card's foot with room for all scroll keys and for a refusal.
const wideFoot = 56

// only returns the entries of a whose keys are in b.
func only(a, b map[string]bool) map[string]bool {
	both := map[string]bool{}
	for k := range b {
		both[k] = a[k]
	}
	return both
}

func (m *Model) answerKey(s *sessions.Status, kind string, k Key) Effect {
	r := s.Request
	switch kind {
	case "leave":
		c := m.card
		m.card = card{prompt: c.prompt, digest: c.digest, offers: c.offers, sight: c.sight}
	case "back":
		m.stepBack(r)
	case "accept":
		return m.respond(s, "", "accept")
	case "cancel":
		return m.respond(s, "", "cancel")
	case "deny":
		if r.Type == agent.PromptNotice || r.Type == agent.PromptForm || r.Type == agent.PromptSetup {
			return m.respond(s, "", "deny")
		}
		m.open(editing{what: denying, session: s.ID, prompt: r.ID, label: "Reason (optional)"}, true)
	case "text":
		m.open(editing{what: wording, session: s.ID, prompt: r.ID, digest: m.card.digest, label: "Your reply"}, true)
	case "fill":
		m.beginForm(r)
	case "option":
		return m.option(s, int(k.Name[0]-'0'))
	case "enter":
		return m.enter(s)
	}
	return nil
}

// option chooses the n-th option of the current question.
func (m *Model) option(s *sessions.Status, n int) Effect {
	r := s.Request
	if m.card.filling {
		return m.fieldOption(n)
	}
	options, _ := optionsOf(r, m.card.step)
	switch {
	case n > len(options):
		m.Flash("there is no option "+strconv.Itoa(n), waits)
	case several(r, m.card.step):
		if m.card.chosen == nil {
			m.card.chosen = map[int]bool{}
		}
		if m.card.chosen[n] {
			delete(m.card.chosen, n)
		} else {
			m.card.chosen[n] = true
		}
	case len(r.Questions) > 1:
		m.pick(r, agent.QuestionPick{Options: []int{n}})
	default:
		return m.respond(s, "", "option", strconv.Itoa(n))
	}
	return nil
}

// pick answers the current question and goes on to the next one.
func (m *Model) pick(r *agent.Request, p agent.QuestionPick) {
	for len(m.card.picks) <= m.card.step {
		m.card.picks = append(m.card.picks, agent.QuestionPick{})
	}
	m.card.picks[m.card.step] = p
	m.card.chosen = nil
	if m.card.step++; m.card.step >= len(r.Questions) {
		m.card.step, m.card.review = len(r.Questions)-1, true
	}
}

func (m *Model) stepBack(r *agent.Request) {
	switch {
	case m.card.review:
		m.card.review = false
	case m.card.step > 0:
		m.card.step--
	default:
		m.card.filling, m.card.content = false, nil
	}
	m.card.chosen = nil
}

// enter sends the answer, or goes on to the next question.
func (m *Model) enter(s *sessions.Status) Effect {
	r := s.Request
	switch {
	case m.card.filling:
		return m.enterForm(s)
	case m.card.review:
		return m.respondEach(s)
	case len(m.card.chosen) == 0:
		m.Flash("nothing is chosen: press an option's number first", waits)
		return nil
	}
	var p agent.QuestionPick
	options, _ := optionsOf(r, m.card.step)
	for n := range options {
		if m.card.chosen[n+1] {
			p.Options = append(p.Options, n+1)
		}
	}
	m.pick(r, p)
	if len(r.Questions) == 1 {
		return m.respondEach(s)
	}
	return nil
}

// respondEach sends the answers to all questions.
func (m *Model) respondEach(s *sessions.Status) Effect {
	type one struct {
		Options []int  `json:"options,omitempty"`
		Text    string `json:"text,omitempty"`
	}
	var all []one
	for _, p := range m.card.picks {
		all = append(all, one{p.Options, p.Text})
	}
	return m.respond(s, m.toJSON(map[string]any{"answers": all}), "-")
}

func (m *Model) toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		m.Flash(err.Error(), failed)
		return ""
	}
	return string(b)
}

// respond answers the prompt that is drawn.
func (m *Model) respond(s *sessions.Status, stdin string, words ...string) Effect {
	return m.act(Act{
		Session: s.ID, Name: s.Name, Kind: "respond", Stdin: stdin, Words: respondWords(s.ID, m.card.prompt, m.card.digest, words...),
	}, "answering "+s.Name)
}

// respondWords are the words of the verb. An answer has the digest, so it is valid only for what was
// drawn. A refusal has none, so it is valid even if the prompt has changed.
func respondWords(session, prompt, digest string, words ...string) []string {
	all := []string{"respond", session, "--prompt", prompt}
	if digest != "" && !refuses[words[0]] {
		all = append(all, "--digest", digest)
	}
	return append(all, words...)
}
