package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/commands"
)

// host is this machine's name; empty if it has none.
func host() string {
	name, _ := os.Hostname()
	return name
}

// Bounds of what get_session answers, in bytes. read_session has the rest.
const (
	mostLast   = 8_000
	mostPrompt = 20_000
	mostField  = 4_000
)

// session is the answer of get_session.
type session struct {
	row
	Mode        *string         `json:"mode"`
	Prompt      any             `json:"prompt"`
	PromptCut   bool            `json:"prompt_cut,omitempty"` // the prompt has no digest then: read_session has both
	LastMessage *string         `json:"last_message"`
	LastCut     bool            `json:"last_message_cut,omitempty"`
	Usage       json.RawMessage `json:"usage"`
	Exit        json.RawMessage `json:"exit,omitempty"`
	Branch      *string         `json:"branch"`
}

func getSession(ctx context.Context, c *call) (any, error) {
	var now seen
	if err := c.into(ctx, &now, "state", "--json", c.args.Session); err != nil {
		return nil, err
	}
	answer := session{row: now.row(host()), Mode: now.Mode, Exit: orNone(now.Exit), Branch: now.Branch, Usage: json.RawMessage("null")}
	answer.Prompt, answer.PromptCut = fit(c.whole(ctx, now))
	var last commands.Last
	if err := c.into(ctx, &last, "last", "--json", now.ID); err != nil {
		return answer, nil // it has said nothing yet, or Berth can't tell what it said
	}
	part, next := page(last.Text, 0, mostLast)
	answer.LastMessage, answer.LastCut = &part, next > 0
	if usage, err := json.Marshal(last.Usage); err == nil {
		answer.Usage = usage
	}
	return answer, nil
}

// asked is what a session asks, with the tool's whole input.
func (c *call) asked(ctx context.Context, session string) (name string, p agent.Request, err error) {
	var full struct {
		Session string `json:"session"`
		agent.Request
		All string `json:"full_input"`
	}
	if err := c.into(ctx, &full, "prompt", "--json", "--full", session); err != nil {
		return "", p, err
	}
	full.FullInput = full.All
	return full.Session, full.Request, nil
}

// whole is what a session asks, with the tool's whole input where that is more than state has.
func (c *call) whole(ctx context.Context, now seen) *agent.Request {
	p := now.asks()
	if p == nil || !p.InputTruncated {
		return p
	}
	if _, full, err := c.asked(ctx, now.ID); err == nil && full.ID == p.ID { // else it is cut, and says so
		p = &full
		uncut(p)
	}
	return p
}

// uncut gives a prompt its whole input, unless its dialog shows no more.
func uncut(p *agent.Request) {
	if p.InputTruncated && !p.InPart() {
		p.Input, p.InputTruncated = &p.FullInput, false
	}
}

// fit is a prompt with its long fields cut, if it is too long for an answer. Then it has no digest, because an
// answer that names the digest is one to all that the prompt asks.
func fit(p *agent.Request) (fitting *agent.Request, cut bool) {
	if p == nil {
		return nil, false
	}
	cut = p.InputTruncated && !p.InPart()
	raw, err := json.Marshal(p)
	if err == nil && len(raw) <= mostPrompt {
		if cut {
			short := *p
			short.Digest = ""
			p = &short
		}
		return p, cut
	}
	short := *p
	for _, field := range []**string{&short.Input, &short.Text, &short.Title, &short.URL} {
		if *field != nil {
			part, _ := page(**field, 0, mostField)
			*field = &part
		}
	}
	short.Digest, short.Schema = "", nil
	if raw, err := json.Marshal(short); err != nil || len(raw) > mostPrompt {
		short.Options, short.Questions = nil, nil
	}
	return &short, true
}

// part is the answer of read_session.
type part struct {
	Session string `json:"session"`
	What    string `json:"what"`
	Text    string `json:"text"`
	Next    string `json:"next,omitempty"`
	More    bool   `json:"more"`             // next goes on at once; without more, next goes on with what comes later
	Digest  string `json:"digest,omitempty"` // of the prompt, with the end of its text: answer_prompt takes it
}

func readSession(ctx context.Context, c *call) (any, error) {
	most := c.args.MaxBytes
	if most == 0 {
		most = 20_000
	}
	answer := part{Session: c.args.Session, What: c.args.What}
	whole, mark, digest := "", "", ""
	switch c.args.What {
	case "transcript":
		talk, err := c.service.Conversation(ctx, c.calls("", "transcript"), c.args.Session, c.args.Since, most)
		if err != nil {
			return nil, err
		}
		text, next := page(talk.Text, 0, MostAnswer-1000)
		if next > 0 {
			text += "\n[" + strconv.Itoa(len(talk.Text)-next) + " bytes are left out]"
		}
		answer.Text, answer.Next, answer.More = text, talk.Next, talk.More
		return answer, nil
	case "last":
		var last commands.Last
		if err := c.into(ctx, &last, "last", "--json", c.args.Session); err != nil {
			return nil, err
		}
		whole, mark = last.Text, strconv.FormatInt(last.Time.UnixMilli(), 36)
	case "prompt":
		name, p, err := c.asked(ctx, c.args.Session)
		if err != nil {
			return nil, err
		}
		whole, digest = commands.Asked(name, &p), p.Digest
		mark = markOf(digest)
	default:
		text, err := c.printed(ctx, c.args.What, "--text", c.args.Session)
		if err != nil {
			return nil, err
		}
		whole = strings.TrimRight(text, " \n") + "\n"
	}
	before, place, marked := strings.Cut(c.args.Since, "+")
	switch {
	case c.args.Since != "" && !marked:
		return nil, api.Errorf(api.CodeBadRequest, "since %s isn't a place in this text: give next of the last answer", api.Quote(c.args.Since))
	case marked && before != mark:
		return nil, api.Errorf(api.CodeBadRequest, "the text is another one now: read it from its beginning, without since")
	}
	from, err := offset(place)
	if err != nil {
		return nil, err
	}
	text, next := page(whole, from, most)
	if answer.Text = text; next > 0 {
		answer.Next, answer.More = mark+"+"+strconv.Itoa(next), true
	} else {
		answer.Digest = digest
	}
	return answer, nil
}

// markOf marks the pages of a prompt. It doesn't give away the digest, which comes with the last page. It is as long as a
// digest, because an attacker can try out prompts until a shorter mark is that of another one.
func markOf(digest string) string {
	sum := sha256.Sum256([]byte(digest))
	return hex.EncodeToString(sum[:16])
}

// printed runs a verb and returns what it prints for people.
func (c *call) printed(ctx context.Context, words ...string) (string, error) {
	var out, complaint commands.Printed
	r := c.calls("", words...)
	r.Out, r.Err = &out, &complaint
	if status := c.service.Run(ctx, r); status != api.StatusDone {
		_, _, err := c.verb(ctx, "", words[0], "--json", words[len(words)-1]) // the failure in its full form
		if err == nil {
			err = api.Errorf(api.CodeInternal, "%s", strings.TrimPrefix(strings.TrimSpace(complaint.String()), "berth: "))
		}
		return "", err
	}
	return out.String(), nil
}

func sendMessage(ctx context.Context, c *call) (any, error) {
	words := []string{"tell", "--json"}
	if c.args.ReplyTo > 0 {
		words = append(words, "--reply-to="+strconv.Itoa(c.args.ReplyTo))
	}
	if c.args.TTL != "" {
		words = append(words, "--ttl="+c.args.TTL)
	}
	if c.args.NotifyIdle {
		words = append(words, "--notify-when-idle")
	}
	return c.verdict(ctx, c.args.Text, append(words, c.args.To, "-")...)
}

// message is a message in an inbox.
type message struct {
	Number  uint64          `json:"message"`
	From    json.RawMessage `json:"from"`
	Text    string          `json:"text"`
	Cut     bool            `json:"cut,omitempty"` // inbox has all of it
	ReplyTo *uint64         `json:"reply_to"`
	Status  string          `json:"status"`
	Sent    string          `json:"sent_at"`
	Cursor  string          `json:"cursor"`
}

func readInbox(ctx context.Context, c *call) (any, error) {
	words := []string{"inbox", "--json"}
	if c.args.Cursor != "" {
		words = append(words, "--since="+c.args.Cursor)
	}
	var inbox struct {
		Messages []message `json:"messages"`
		Cursor   string    `json:"cursor"`
		More     bool      `json:"more"`
	}
	if err := c.into(ctx, &inbox, words...); err != nil {
		return nil, err
	}
	answer := struct {
		Messages []message `json:"messages"`
		Cursor   string    `json:"cursor"`
		More     bool      `json:"more"`
	}{[]message{}, inbox.Cursor, false}
	size := 0
	for _, m := range inbox.Messages {
		part, next := page(m.Text, 0, mostPrompt)
		m.Text, m.Cut = part, next > 0
		line, err := json.Marshal(m)
		if err != nil {
			return nil, api.Errorf(api.CodeInternal, "write a message: %w", err)
		}
		if size += len(line) + 1; size > MostAnswer-500 {
			answer.More = true
			break
		}
		answer.Messages, answer.Cursor = append(answer.Messages, m), m.Cursor
	}
	if !answer.More {
		answer.Cursor, answer.More = inbox.Cursor, inbox.More
	}
	return answer, nil
}

// replied is the answer of ask_session.
type replied struct {
	Session string  `json:"session"`
	Done    bool    `json:"done"`
	State   string  `json:"state"`
	Reply   *string `json:"reply,omitempty"`
	Running *turn   `json:"running,omitempty"` // it took the message, and its turn isn't over
}

// turn is what a message began.
type turn struct {
	Turn string `json:"turn"`
	Seq  uint64 `json:"seq"`
}

func askSession(ctx context.Context, c *call) (any, error) {
	raw, _, err := c.verb(ctx, c.args.Text, "ask", "--json", "--timeout="+c.seconds().String(), c.args.To, "-")
	var n commands.Nudged
	if raw != nil {
		if err := json.Unmarshal(raw, &n); err != nil {
			return nil, api.Errorf(api.CodeInternal, "read the answer of ask: %w", err)
		}
	}
	late := err != nil && api.AsError(err).Code == api.CodeTimeout && n.Delivered
	if err != nil && !late {
		return nil, err
	}
	answer := replied{Session: n.Session, Done: !late, Reply: n.LastMessage}
	if n.State != nil {
		answer.State = *n.State
	}
	if late {
		answer.Reply, answer.Running = nil, &turn{n.Nudge, n.Seq}
	}
	if answer.Reply != nil {
		if text, next := page(*answer.Reply, 0, MostAnswer-2000); next > 0 {
			text += "\n[the rest: read_session with what: last]"
			answer.Reply = &text
		}
	}
	return answer, nil
}

// rests are the states of an agent that doesn't work: it is done, or needs a person.
var rests = []string{string(agent.Idle), string(agent.Prompt), string(agent.InError), string(agent.Parked), string(agent.Exited)}

// awaited is the answer of wait.
type awaited struct {
	Reached  bool              `json:"reached"`
	Events   []json.RawMessage `json:"events"`
	Sessions []row             `json:"sessions"`
	Cursor   string            `json:"cursor"`
}

func wait(ctx context.Context, c *call) (any, error) {
	until := map[agent.State]bool{}
	states := c.args.Until
	if len(states) == 0 {
		states = rests
	}
	for _, s := range states {
		until[agent.State(s)] = true
	}
	ctx, cancel := context.WithTimeout(ctx, c.seconds())
	defer cancel()
	got, err := c.service.Await(ctx, c.calls("", "wait"), c.args.Sessions, until, c.args.Cursor)
	if err != nil {
		return nil, err
	}
	answer := awaited{Reached: got.Reached, Events: got.Events, Cursor: got.Cursor, Sessions: []row{}}
	for _, st := range got.Sessions {
		raw, err := json.Marshal(st)
		var now seen
		if err == nil {
			err = json.Unmarshal(raw, &now)
		}
		if err != nil {
			return nil, api.Errorf(api.CodeInternal, "read a session's state: %w", err)
		}
		answer.Sessions = append(answer.Sessions, now.row(host()))
	}
	return answer.fit(), nil
}

// fit leaves out what makes the answer too long. The last events matter most, and the sessions are in
// list_sessions. An event has only the beginning of a prompt's input. So it has no digest, because an answer that
// names the digest is one to all that the prompt asks.
func (a awaited) fit() awaited {
	size := func(v any) int { raw, _ := json.Marshal(v); return len(raw) }
	for i, e := range a.Events {
		a.Events[i] = unsigned(e)
		e = a.Events[i]
		if len(e) > mostField { // a prompt's event has all that it asks
			var head struct {
				Cursor  string `json:"cursor"`
				Type    string `json:"type"`
				Session string `json:"session"`
				Time    string `json:"time"`
				Cut     bool   `json:"cut"`
			}
			_ = json.Unmarshal(e, &head)
			head.Cut = true
			a.Events[i], _ = json.Marshal(head)
		}
	}
	for len(a.Events) > 1 && size(a.Events) > MostAnswer/2 {
		a.Events = a.Events[len(a.Events)/2:]
	}
	for len(a.Sessions) > 0 && size(a.Sessions) > MostAnswer/3 {
		a.Sessions = a.Sessions[:len(a.Sessions)/2]
	}
	return a
}

// mostHead is more than what an event has beside its prompt.
const mostHead = 1_000

// inEvent reports whether the events of wait show all of the prompt.
func inEvent(p *agent.Request) bool {
	return (!p.InputTruncated || p.InPart()) && len(agent.Encoded(p)) <= mostField-mostHead
}

// unsigned is an event without the digest of its prompt. A server can name a field of its form like that: it stays.
func unsigned(event json.RawMessage) json.RawMessage {
	var all, prompt map[string]json.RawMessage
	if json.Unmarshal(event, &all) != nil {
		return json.RawMessage("null") // no event is like that
	}
	if json.Unmarshal(all["prompt"], &prompt) != nil || prompt["digest"] == nil {
		return event
	}
	delete(prompt, "digest")
	all["prompt"] = agent.Encoded(prompt)
	return agent.Encoded(all)
}
