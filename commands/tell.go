package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/events"
	"berth/terminal"
)

// Inbox is the answer of inbox.
type Inbox struct {
	Session  string             `json:"session"`
	ID       string             `json:"id"`
	Messages []sessions.Message `json:"messages"`
	Cursor   string             `json:"cursor"` // for the next call's --since
	More     bool               `json:"more"`   // there are later messages
}

// inboxPage is how many messages inbox shows unless --limit says otherwise, and inboxMost how many it ever shows.
const (
	inboxPage = 100
	inboxMost = 1000
)

func tellVerb() *Verb {
	return &Verb{
		Name: "tell", Group: "talk", Synopsis: "TARGET[,TARGET...] [--reply-to ID] [--ttl D] [--notify-when-idle] TEXT|-",
		Short: "send a session a message that isn't its user's; from inside a session also to others of its team",
		Examples: []Example{
			{`tell alpha "the API has moved to /v2"`, "send a message, which alpha gets when it is idle"},
			{`tell alpha,beta --ttl 1h "main is frozen until noon"`, "to two sessions; drop it when it has waited for an hour"},
		},
		Need: keys.Responder, Tail: true, Answer: sessions.Sent{}, Run: tell,
		Flags: func(f *pflag.FlagSet) {
			f.Uint64("reply-to", 0, "number of the message that this one answers")
			f.Duration("ttl", sessions.DefaultTTL, "drop the message when it has waited this long, at most 168h")
			f.Bool("notify-when-idle", false, "inside a session: get a message when the target is idle after this one")
		},
	}
}

func inboxVerb() *Verb {
	return &Verb{
		Name: "inbox", Group: "talk", Synopsis: "[S] [--since CURSOR] [--limit N] [--wait D]",
		Short: "the messages that other sessions and people sent with tell; inside a session without S: its own, which are delivered then",
		Examples: []Example{
			{"inbox alpha", "the messages for alpha, oldest first"},
			{"inbox alpha --since e0 --wait 1s", "those after a cursor; wait a second if there are none"},
		},
		Need: keys.Viewer, MaxArgs: 1, Answer: Inbox{}, Run: inbox,
		Flags: func(f *pflag.FlagSet) {
			f.String("since", "", "messages after this cursor, which the answer of the call before has; without it the newest, or from the first that waits")
			f.Int("limit", inboxPage, "at most this many, up to 1000, with at most 1 MiB of text")
			f.Duration("wait", 0, "wait this long for a message; then the status is 10")
		},
	}
}

func messageVerb() *Verb {
	return &Verb{
		Name: "message", Group: "see", Synopsis: "ID", Short: "one message that was sent with tell, and the way that it has gone so far",
		Examples: []Example{
			{"message 42", "what became of message 42"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Answer: sessions.Message{}, Run: message,
	}
}

// tell sends the message to each target and answers for each.
func tell(ctx context.Context, c *Call) error {
	t := sessions.Tell{}
	t.ReplyTo, _ = c.flags.GetUint64("reply-to")
	t.TTL, _ = c.flags.GetDuration("ttl")
	t.Notify, _ = c.flags.GetBool("notify-when-idle")
	switch {
	case c.flags.Changed("reply-to") && t.ReplyTo == 0:
		return api.Errorf(api.CodeUsage, "tell: --reply-to needs the number of a message, such as 42")
	case t.TTL <= 0 || t.TTL > sessions.MaxTTL:
		return api.Errorf(api.CodeUsage, "tell: --ttl must be above 0 and at most %s, such as 1h", sessions.MaxTTL)
	}
	list, err := c.recipients(strings.Split(c.Args[0], ","))
	if err != nil {
		return err
	}
	text, err := c.message()
	if err != nil {
		return err
	}
	t.Text = text
	if err := c.stillAllowed(); err != nil { // standard input may have taken long
		return err
	}
	return c.each(ctx, list, func(s *sessions.Session) result {
		var sent sessions.Sent
		err := c.may("tell", keys.Responder, s)
		if c.Identity().Kind == keys.KindAgent { // whose rights depend on both sessions
			err = nil
		}
		if st := s.Status(); err == nil {
			sent, err = c.Sessions.Tell(ctx, c.actor(), s, t)
		} else {
			sent = sessions.Sent{Session: st.Name, ID: st.ID, Status: "refused"}
		}
		return result{
			err: err,
			answer: func(failed *api.Error) any {
				sent.Error = failed
				return sent
			},
			text: func(w io.Writer) {
				fmt.Fprintf(w, "message %d to %s is %s\n", *sent.Message, sent.Session, sent.Status)
			},
		}
	})
}

// recipients finds the sessions that words name. A process inside a session finds only those that it may
// send messages to.
func (c *Call) recipients(words []string) ([]*sessions.Session, error) {
	id := c.Identity()
	if id.Kind != keys.KindAgent {
		return c.targets(words, needsOne)
	}
	own, ok := c.Sessions.Find(id.Session)
	if !ok {
		return nil, id.Denied("tell", words[0])
	}
	var list []*sessions.Session
	for _, word := range words {
		tag, isTag := strings.CutPrefix(word, "tag:")
		if word != "all" && !isTag {
			s, err := c.Sessions.Recipient(c.actor(), word)
			if err != nil {
				return nil, err
			}
			list = append(list, s)
			continue
		}
		for _, s := range c.Sessions.All() {
			if c.Sessions.MayTell(own, s) && (!isTag || s.Status().HasTag(tag)) {
				list = append(list, s)
			}
		}
	}
	var once []*sessions.Session
	for _, s := range list {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	if len(once) == 0 {
		return nil, api.Errorf(api.CodeNotFound, "no session that %s may send messages to matches %s", id.Name, api.Quote(strings.Join(words, " ")))
	}
	return once, nil
}

// inbox lists the messages for a session. A process inside the session has read them then.
func inbox(ctx context.Context, c *Call) error {
	id := c.Identity()
	word := id.Session
	switch {
	case len(c.Args) > 0:
		word = c.Args[0]
	case id.Kind != keys.KindAgent:
		return Lookup("inbox").usage(errors.New("name a session: only a process inside a session has an inbox of its own"))
	}
	s, err := c.session(word)
	if err != nil {
		return err
	}
	own := id.Kind == keys.KindAgent && id.Session == s.ID()
	var since *uint64
	if text, _ := c.flags.GetString("since"); text != "" && text != "0" {
		at, err := events.ParseCursor(text)
		if err != nil {
			return api.Errorf(api.CodeUsage, "--since %s isn't a valid cursor: give the one that inbox or an event has, such as e123", api.Quote(text))
		}
		since = &at
	} else if text != "" {
		since = new(uint64)
	}
	most, _ := c.flags.GetInt("limit")
	if most < 1 || most > inboxMost {
		return api.Errorf(api.CodeUsage, "inbox: --limit is 1 to %d", inboxMost)
	}
	status := api.StatusDone
	if wait, _ := c.flags.GetDuration("wait"); c.flags.Changed("wait") {
		if wait <= 0 {
			return api.Errorf(api.CodeUsage, "inbox: --wait must be above 0, such as 30s")
		}
		if since == nil {
			unread := c.Sessions.UnreadSince(s)
			since = &unread
		}
		if status, err = c.awaitMail(ctx, s, *since, wait); err != nil {
			return err
		}
	}
	leave, err := c.answers.enter(ctx, id, 1, answerWait)
	if err != nil {
		return err
	}
	defer leave()
	page, err := c.Sessions.Inbox(ctx, s, since, most, own)
	if err != nil {
		return err
	}
	st := s.Status()
	err = c.answer(Inbox{st.Name, st.ID, page.Messages, page.Cursor, page.More}, func(w io.Writer) {
		if len(page.Messages) == 0 {
			fmt.Fprintf(w, "%s has no messages\n", st.Name)
		}
		for i := range page.Messages {
			c.printMessage(w, &page.Messages[i])
		}
		if page.More {
			fmt.Fprintf(w, "there are later ones: inbox %s --since %s\n", st.Name, page.Cursor)
		}
	})
	if err == nil && status != api.StatusDone {
		return statusError(status)
	}
	return err
}

// awaitMail waits for a message after the cursor. The status is that of a timeout if none comes.
func (c *Call) awaitMail(ctx context.Context, s *sessions.Session, since uint64, wait time.Duration) (int, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errWaited)
	defer cancel()
	err := c.Sessions.AwaitMail(ctx, s, since)
	if err != nil && !errors.Is(context.Cause(ctx), errWaited) {
		return 0, err
	}
	if may := c.may(c.verbName(), keys.Viewer, s); may != nil { // the rights of that time may be gone
		return 0, may
	}
	if err != nil {
		return api.CodeTimeout.Status(), nil
	}
	return api.StatusDone, nil
}

// message shows one message.
func message(_ context.Context, c *Call) error {
	number, err := strconv.ParseUint(strings.TrimPrefix(c.Args[0], "m"), 10, 64)
	if err != nil {
		return Lookup("message").usage(fmt.Errorf("%s isn't the number of a message, such as 42", api.Quote(c.Args[0])))
	}
	m, ok := c.Sessions.FindMessage(number)
	if !ok || !c.Sessions.MaySeeMessage(c.Identity(), m) {
		return api.Errorf(api.CodeNotFound, "there is no message %d", number).With("message", number)
	}
	return c.answer(m, func(w io.Writer) {
		c.printMessage(w, &m)
		for _, step := range m.Way {
			fmt.Fprintf(w, "  %s %s %s\n", step.At.Local().Format("Jan 2 15:04:05"), step.Status, terminal.Printable(step.Why))
		}
	})
}

// printMessage writes a message for people: who sent it, how far it is, and its text.
func (c *Call) printMessage(w io.Writer, m *sessions.Message) {
	fmt.Fprintf(w, "message %d from %s to %s, %s ago: %s\n", m.Number, m.From.Words(), m.Session, ago(c.Now(), m.Sent.Time), m.Status)
	for line := range strings.Lines(m.Text) {
		fmt.Fprintf(w, "  %s\n", terminal.Printable(strings.TrimSuffix(line, "\n")))
	}
}
