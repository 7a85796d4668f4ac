package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"berth/sessions"
)

// Offers is what Host knows of what a person may type. It answers only what the person may use.
type Offers interface {
	// Installed lists the agents that the person may start, with the versions that are known. With ask
	// it runs their programs for the others.
	Installed(ctx context.Context, ask bool) []sessions.Installed
	// Folders completes the folder of a new session. An error says why it can't.
	Folders(ctx context.Context, profile, typed string) (sessions.Folders, error)
	// Complete lists the words that the last word of a verb's line may become, from byte from on.
	Complete(line string) (from int, words []string)
}

// An Ask is an effect: a question to the server about what the person types. The form or the command
// bar that it is for gets the answer.
type Ask struct {
	what          question
	profile, text string
}

// question is what an Ask is about.
type question int

const (
	askAgents question = iota
	askVersions
	askFolders
	askWords
)

// Offered is the answer to an Ask.
type Offered struct {
	Ask
	agents  []sessions.Installed
	folders sessions.Folders
	err     error // why there are no folders; such a folder can be typed
	from    int
	words   []string
}

// Bounds of how long a question takes. While a key waits for a folder, no other key is read.
const (
	askWithin       = 10 * time.Second
	askFolderWithin = 2 * time.Second
)

// Waits reports whether a key needs the answer to a question. It must be pressed after Answer.
func (m *Model) Waits(k Key) bool {
	switch {
	case m.help || m.confirm != nil || m.page != nil:
		return false
	case m.start != nil:
		return m.start.waits(k)
	case m.command != nil:
		return m.command.waits(k)
	}
	return false
}

// Answer takes an answer to a question in. The form or the bar may have been closed or have gone on
// since.
func (m *Model) Answer(t Offered) Effect {
	switch {
	case t.what == askWords && m.command != nil:
		m.command.answer(t)
	case m.start != nil:
		return m.start.answer(t)
	}
	return nil
}

// ask asks the server a question.
func (d *dashboard) ask(q Ask) tea.Cmd {
	answer := make(chan Offered, 1)
	d.acts.Go(func() {
		within := askWithin
		if q.what == askFolders {
			within = askFolderWithin
		}
		ctx, cancel := context.WithTimeout(d.work, within)
		defer cancel()
		t := Offered{Ask: q}
		switch q.what {
		case askAgents, askVersions:
			t.agents = d.Host.Installed(ctx, q.what == askVersions)
		case askFolders:
			t.folders, t.err = d.Host.Folders(ctx, q.profile, q.text)
		case askWords:
			t.from, t.words = d.Host.Complete(q.text)
		}
		answer <- t
	})
	return func() tea.Msg { return <-answer }
}
