package generic

import (
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"berth/agent"
	"berth/agent/compose"
	"berth/terminal"
)

// typer is one whose rules say how a message is typed.
type typer struct{ ruled }

var (
	_ agent.MessageTyper     = typer{}
	_ agent.MessageSubmitter = typer{}
)

// shield is a zero-width space: in front of what would be a command it is text
// like any other, and no blank that is trimmed away.
const shield = "\u200b"

// Message is the text without control characters, and no command.
func (t typer) Message(text string) string {
	text = strings.TrimSpace(agent.CleanMessage(text))
	if text != "" && t.set.Command(text) {
		return shield + text
	}
	return text
}

// Slash is a text that the rules know as a command, on one line.
func (t typer) Slash(text string) (string, bool) {
	text = strings.TrimSpace(agent.CleanMessage(text))
	return text, text != "" && !strings.Contains(text, "\n") && t.set.Command(text)
}

// Paste is a bracketed paste where the program takes one. Else a line's end
// would be a key.
func (t typer) Paste(typed string, bracketed bool) ([]byte, bool) {
	if bracketed && t.set.Set.Nudge.Paste == "auto" {
		return compose.AppendPaste(nil, typed), true
	}
	return []byte(typed), !strings.ContainsAny(typed, "\n\t")
}

// Pause lies between the text and Enter.
func (t typer) Pause() time.Duration { return t.set.Set.Nudge.Pause }

// Same compares what is to be seen.
func (typer) Same(typed, told string) bool {
	return strings.TrimSpace(typed) == strings.TrimSpace(told) || visible(typed) == visible(told)
}

// Holds: the text itself, or what stands for a long one.
func (t typer) Holds(typed string, c *agent.Composer) bool {
	return t.Displays(typed, c) || c != nil && !c.Empty && t.set.Pasted(strings.TrimSpace(c.Text))
}

// Displays compares what is visible: the screen drops blanks at the ends of
// lines and shows nothing of characters without a width.
func (typer) Displays(typed string, c *agent.Composer) bool {
	return c != nil && !c.Empty && visible(typed) != "" && visible(typed) == visible(c.Text)
}

func visible(text string) string { return compose.Visible(norm.NFC.String(text)) }

// Clear is the next of the keys that the rules name.
func (t typer) Clear(_ *agent.Composer, stuck int) []byte {
	if keys := t.set.Set.Nudge.Clear; stuck < len(keys) {
		return key(keys[stuck])
	}
	return nil
}

// Interrupt ends what is under way.
func (t typer) Interrupt() []byte { return key(t.set.Set.Nudge.Interrupt) }

// Enter sends the message.
func (t typer) Enter(string) []byte { return key(t.set.Set.Nudge.Enter) }

// key is what a key of the rules sends, which was checked as they were read.
func key(name string) []byte {
	data, err := terminal.EncodeKey(name, terminal.Modes{})
	if err != nil {
		return nil
	}
	return data
}
