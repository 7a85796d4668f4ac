package commands

import (
	"context"
	"fmt"
	"io"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions"
)

// Last is the answer of last.
type Last struct {
	Session string   `json:"session"`
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	Time    api.Time `json:"time"`

	Conversation *string         `json:"conversation"` // the agent's id of the message; null if unknown
	Usage        *sessions.Usage `json:"usage"`        // of the message's turn; null if unknown
}

func lastVerb() *Verb {
	return &Verb{
		Name: "last", Group: "see", Synopsis: "S", Short: "the agent's last message",
		Examples: []Example{
			{"last alpha", "the agent's last message"},
			{"last alpha --json", "with its time and where it is from"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Answer: Last{}, Run: last, Prose: true,
	}
}

func last(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	st := s.Status()
	switch {
	case !st.Driven:
		return api.Errorf(api.CodeNoDriver, "%s runs %s: Berth can't tell its messages from other output. Use screen %s", st.Name, st.Agent, st.Name).With("session", st.Name)
	case st.Said == nil:
		return api.Errorf(api.CodeNotFound, "%s hasn't ended a turn with a message in this conversation yet", st.Name).With("session", st.Name)
	}
	said := s.LastSaid(ctx)
	return c.answer(Last{st.Name, st.ID, said.Text, said.Time, agent.Pointer(said.Conversation), said.Usage}, func(w io.Writer) { fmt.Fprintln(w, said.Text) })
}
