package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/render"
	"berth/sessions/gates/transcript"
	"berth/terminal"
)

// TranscriptLine is one entry of a transcript. Entry is the agent's JSON, unchanged. Entry is
// null for a line that isn't JSON (Text has it) or is too long.
type TranscriptLine struct {
	N     int             `json:"n"`
	Line  int             `json:"line"`
	Entry json.RawMessage `json:"entry"`
	Text  *string         `json:"text,omitempty"`
}

func transcriptVerb() *Verb {
	return &Verb{
		Name: "transcript", Group: "see", Synopsis: "S [N [--raw]] [--since N:LINE] [--unfold]",
		Short: "the agent's session log: its parts, which end at a clear or a compaction, the conversation in a part, or everything after a line",
		Examples: []Example{
			{"transcript alpha", "the parts of the agent's session log"},
			{"transcript alpha 1 --text", "the conversation in part 1; --unfold shows the tools' inputs, changes and results"},
			{"transcript alpha 1 --raw", "part 1 as the agent wrote it"},
			{"transcript alpha --since 1:10", "what came after line 10 of part 1"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 2, Answer: []transcript.Listed{}, Others: map[string]any{"line": TranscriptLine{}}, Open: true, Run: showTranscript,
		Flags: func(f *pflag.FlagSet) {
			f.String("since", "", "every line after line LINE of part N")
			f.Bool("raw", false, "print the part unchanged, as the agent wrote it")
			f.Bool("unfold", false, "in the text of a conversation, print tools' inputs, changes and results in full instead of a line each")
		},
	}
}

func showTranscript(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	store, err := s.Transcripts()
	if err != nil {
		return err
	}
	since, _ := c.flags.GetString("since")
	raw, _ := c.flags.GetBool("raw")
	each, end := c.transcriptLine, func() error { return nil }
	if reader := s.TranscriptReader(); !c.JSON && reader != nil {
		p := c.conversation(reader)
		each, end = p.line, p.end
	}
	if raw {
		each, end = c.rawLine, func() error { return nil }
	}
	switch {
	case since != "" && len(c.Args) == 2, raw && len(c.Args) < 2:
		return Lookup("transcript").usage(errors.New("give N, or --since N:LINE; --raw belongs to N"))
	case since != "":
		n, line, err := sinceLine(since)
		if err != nil {
			return err
		}
		return transcriptError(errors.Join(store.Since(ctx, n, line, each), end()))
	case len(c.Args) == 2:
		n, err := strconv.Atoi(c.Args[1])
		if err != nil || n < 1 {
			return api.Errorf(api.CodeUsage, "transcript: %s isn't the number of a part: transcript S lists the parts", api.Quote(c.Args[1]))
		}
		return transcriptError(errors.Join(store.Lines(ctx, n, 0, each), end()))
	}
	list, err := store.List()
	if err != nil {
		return err
	}
	return c.answer(list, func(w io.Writer) {
		rows := [][]string{{"N", "LINES", "BYTES", "ENDED BY", "SAVED", "CONVERSATION"}}
		for _, p := range list {
			reason, saved := p.Reason, ago(c.Now(), p.Saved.Time)
			if p.Live {
				reason, saved = "-", "now"
			}
			rows = append(rows, []string{strconv.Itoa(p.N), strconv.Itoa(p.Lines), strconv.FormatInt(p.Bytes, 10), reason, saved, p.Conversation})
		}
		table(w, rows)
	})
}

// TranscriptParts are the part numbers of a session's transcript, for a caller that may read
// them.
func (s *Service) TranscriptParts(r Request, id string) ([]int, error) {
	c := &Call{Service: s, Request: r}
	one, err := c.session(id)
	if err != nil {
		return nil, err
	}
	if err := c.may("transcript", keys.Viewer, one); err != nil {
		return nil, err
	}
	store, err := one.Transcripts()
	if err != nil {
		return nil, err
	}
	list, err := store.List()
	var numbers []int
	for _, p := range list {
		numbers = append(numbers, p.N)
	}
	return numbers, err
}

// sinceLine reads N:LINE; line 0 is before the first line.
func sinceLine(word string) (n, line int, err error) {
	part, after, ok := strings.Cut(word, ":")
	if n, err = strconv.Atoi(part); ok && err == nil {
		line, err = strconv.Atoi(after)
	}
	if !ok || err != nil || n < 1 || line < 0 {
		return 0, 0, api.Errorf(api.CodeUsage, "transcript: --since %s must be N:LINE, such as 1:0 for all", api.Quote(word))
	}
	return n, line, nil
}

func transcriptError(err error) error {
	if errors.Is(err, transcript.ErrNone) || errors.Is(err, transcript.ErrGone) {
		return api.Errorf(api.CodeNotFound, "%w", err)
	}
	return err
}

// conversationPrinter prints a conversation while its log is read.
type conversationPrinter struct {
	call   *Call
	reader agent.TranscriptReader
	unfold bool
	talk   render.Conversation
	above  *render.Block // the last one that was printed
}

func (c *Call) conversation(r agent.TranscriptReader) *conversationPrinter {
	unfold, _ := c.flags.GetBool("unfold")
	return &conversationPrinter{call: c, reader: r, unfold: unfold}
}

func (p *conversationPrinter) line(l transcript.Line) error {
	for _, e := range p.reader.Entries(l.Data) {
		p.talk.Add(e)
	}
	return p.print(p.talk.Settled())
}

func (p *conversationPrinter) end() error { return p.print(p.talk.Take(0)) }

func (p *conversationPrinter) print(blocks []*render.Block) error {
	for _, b := range blocks {
		var out bytes.Buffer
		if p.above != nil && render.Apart(p.above, b) {
			out.WriteByte('\n')
		}
		for _, line := range b.Print(p.unfold) {
			out.WriteString(terminal.Printable(line) + "\n")
		}
		if _, err := p.call.Out.Write(p.call.lines(out.Bytes())); err != nil {
			return err
		}
		p.above = b
	}
	return nil
}

func (c *Call) transcriptLine(l transcript.Line) error {
	if !c.JSON {
		_, err := c.Out.Write(c.lines([]byte(fmt.Sprintf("%d:%d  %s\n", l.N, l.Line, terminal.Printable(string(l.Data))))))
		return err
	}
	out := TranscriptLine{N: l.N, Line: l.Line}
	if data := bytes.TrimSpace(l.Data); json.Valid(data) {
		out.Entry = data
	} else if l.Data != nil {
		text := string(l.Data)
		out.Text = &text
	}
	return c.printJSON(out)
}

func (c *Call) rawLine(l transcript.Line) error {
	if l.Data == nil {
		return api.Errorf(api.CodeLimit, "line %d of transcript %d is longer than %d bytes", l.Line, l.N, transcript.MostLine)
	}
	_, err := c.Out.Write(append(l.Data, '\n'))
	return err
}
