package generic

import (
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"berth/agent"
	"berth/agent/compose"
	"berth/terminal"
)

// typer is a ruled driver whose rules say how to type a message.
type typer struct{ ruled }

var (
	_ agent.MessageTyper     = typer{}
	_ agent.MessageSubmitter = typer{}
)

// shield is a zero-width space. In front of a command it makes the text a message, and the program
// doesn't trim it as a blank.
const shield = "\u200b"

// Message is the text without control characters. A text that would be a command gets a shield.
func (t typer) Message(text string) string {
	text = strings.TrimSpace(agent.CleanMessage(text))
	if text != "" && t.set.Command(text) {
		return shield + text
	}
	return text
}

// Slash accepts one line that the rules know as a command.
func (t typer) Slash(text string) (string, bool) {
	text = strings.TrimSpace(agent.CleanMessage(text))
	return text, text != "" && !strings.Contains(text, "\n") && t.set.Command(text)
}

// Paste makes a bracketed paste if the program takes one. Otherwise a line's end would act as a
// key, so only a single line can be typed.
func (t typer) Paste(typed string, bracketed bool) ([]byte, bool) {
	if bracketed && t.set.Set.Nudge.Paste == "auto" {
		return compose.AppendPaste(nil, typed), true
	}
	return []byte(typed), !strings.ContainsAny(typed, "\n\t")
}

// Pause is the rules' pause between the text and Enter.
func (t typer) Pause() time.Duration { return t.set.Set.Nudge.Pause }

// Same compares what is visible of both texts.
func (typer) Same(typed, reported string) bool {
	return strings.TrimSpace(typed) == strings.TrimSpace(reported) || visible(typed) == visible(reported)
}

// Holds accepts the text itself, or the mark that the program shows in place of a long text.
func (t typer) Holds(typed string, c *agent.Composer) bool {
	return t.Displays(typed, c) || c != nil && !c.Empty && t.set.Pasted(strings.TrimSpace(c.Text))
}

// Displays compares what is visible: the screen drops blanks at the ends of lines, and shows
// nothing for characters without a width.
func (typer) Displays(typed string, c *agent.Composer) bool {
	return c != nil && !c.Empty && visible(typed) != "" && visible(typed) == visible(c.Text)
}

func visible(text string) string { return compose.Visible(norm.NFC.String(text)) }

// Clear is the next of the keys in the rules.
func (t typer) Clear(_ *agent.Composer, stuck int) []byte {
	if keys := t.set.Set.Nudge.Clear; stuck < len(keys) {
		return key(keys[stuck])
	}
	return nil
}

// Interrupt is the rules' key that ends the current turn.
func (t typer) Interrupt() []byte { return key(t.set.Set.Nudge.Interrupt) }

// Enter is the rules' key that sends the message.
func (t typer) Enter(string) []byte { return key(t.set.Set.Nudge.Enter) }

// key encodes a key of the rules. Check has accepted all of them.
func key(name string) []byte {
	data, err := terminal.EncodeKey(name, terminal.Modes{})
	if err != nil {
		return nil
	}
	return data
}
