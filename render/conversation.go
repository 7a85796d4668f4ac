package render

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"berth/agent"
)

// Conversation joins the entries of a session log to blocks: a tool's call and its result are one
// block. It keeps the newest blocks within its bounds. Its zero value is empty.
type Conversation struct {
	Blocks  []*Block
	Dropped int // how many blocks came before Blocks[0], and are no longer kept

	size    int
	repeats time.Time // since when the log has entries again; zero: it has not
}

// Bounds of a conversation. An entry has some hundred bytes, so usually the number counts.
const (
	mostBlocks = 20_000
	mostSize   = 16 << 20 // bytes of all text
	mostText   = 64 << 10 // bytes of a message, or of a tool's input
	mostResult = 16 << 10 // bytes of a tool's result
	// lookBack is how many blocks back the call of a result is searched for, or a message that the log
	// has again. Agents run a few tools at a time.
	lookBack = 256
	// repeatTime is how long an agent takes at most to write a conversation again. It counts when the
	// agent was killed meanwhile.
	repeatTime = time.Second
)

// Block is a message, a reply, a thought, a notice, or a tool's use.
type Block struct {
	Kind   agent.EntryKind // EntryCall is a tool's use; never EntryResult or EntryRepeat
	At     time.Time
	Failed bool // a notice about an error, or a tool that failed

	id, call  string
	text      string         // of a tool's use without a subject, its input
	cutText   int            // bytes that text doesn't have
	tool      string         // the rest is of a tool's use
	subject   *agent.Subject // nil: not known
	done      bool           // the result is there
	result    string
	cutResult int // bytes that result doesn't have
	size      int
}

// Add takes in the next entry.
func (c *Conversation) Add(e agent.Entry) {
	tool := e.Kind == agent.EntryCall || e.Kind == agent.EntryResult
	switch {
	case e.Kind == agent.EntryRepeat:
		c.repeats = e.At
		return
	case e.Kind == agent.EntryGoOn:
		c.repeats = time.Time{}
		return
	case !c.repeats.IsZero() && e.At.Before(c.repeats.Add(repeatTime)), !tool && strings.TrimSpace(e.Text) == "":
		return
	}
	b := c.before(e)
	if b == nil {
		b = &Block{Kind: e.Kind, At: e.At, id: e.ID, call: e.Call}
		if e.Kind == agent.EntryResult { // its call is in an earlier part of the log
			b.Kind, b.tool = agent.EntryCall, "tool"
		}
		c.Blocks = append(c.Blocks, b)
	}
	b.take(e)
	c.size += b.resize()
	if len(c.Blocks) > mostBlocks || c.size > mostSize {
		c.Take(len(c.Blocks) - len(c.Blocks)/8 - 1)
	}
}

// before is the block that an entry belongs to; nil for a new one.
func (c *Conversation) before(e agent.Entry) *Block {
	kind := e.Kind
	if kind == agent.EntryResult {
		kind = agent.EntryCall
	}
	for i := len(c.Blocks) - 1; i >= max(len(c.Blocks)-lookBack, 0); i-- {
		b := c.Blocks[i]
		if b.Kind == kind && (e.Call != "" && b.call == e.Call || e.ID != "" && b.id == e.ID) {
			return b
		}
	}
	return nil
}

// take adds an entry to the block.
func (b *Block) take(e agent.Entry) {
	switch {
	case e.Kind == agent.EntryResult && b.done: // a log may have a result in two forms; the first is the shorter
	case e.Kind == agent.EntryResult:
		b.done, b.Failed = true, e.Failed
		b.result, b.cutResult = clip(strings.TrimRight(e.Text, "\n"), mostResult)
	case e.Kind != agent.EntryCall:
		b.Failed = e.Failed
		b.text, b.cutText = clip(strings.TrimRight(e.Text, "\n"), mostText)
	case b.tool == "" || e.Subject != nil && len(e.Subject.Changes) > 0: // what a patch did says more than its command
		if b.tool == "" {
			b.tool = e.Tool
		}
		b.text, b.cutText, b.subject = "", 0, e.Subject
		if e.Subject == nil || len(e.Input) > mostText {
			b.subject = nil
			b.text, b.cutText = clip(string(e.Input), mostText)
		}
	}
}

// resize counts the block's bytes again, and returns how many there are more.
func (b *Block) resize() int {
	size := len(b.text) + len(b.result) + 200
	if b.subject != nil {
		size += len(b.subject.Command)
		for _, v := range b.subject.Arguments {
			size += len(v)
		}
		for _, ch := range b.subject.Changes {
			size += len(agent.Value(ch.Text))
			for _, e := range ch.Edits {
				size += len(e.Old) + len(e.New)
			}
			for _, l := range ch.Patch {
				size += len(l.Text) + 24
			}
		}
	}
	more := size - b.size
	b.size = size
	return more
}

// clip cuts a text at a character. left is how many bytes are missing.
func clip(text string, most int) (clipped string, left int) {
	if len(text) <= most {
		return text, 0
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.Clone(text[:most]), len(text) - most
}

// Take removes the oldest blocks but keep, and returns them.
func (c *Conversation) Take(keep int) []*Block {
	n := max(len(c.Blocks)-keep, 0)
	taken := c.Blocks[:n]
	c.Blocks = append([]*Block(nil), c.Blocks[n:]...)
	c.Dropped += n
	for _, b := range taken {
		c.size -= b.size
	}
	return taken
}

// Settled removes and returns the oldest blocks that no later entry changes. A caller that prints a
// conversation while it reads the log prints these.
func (c *Conversation) Settled() []*Block {
	switch {
	case len(c.Blocks) >= 2*lookBack:
		return c.Take(lookBack)
	case c.size >= mostSize/2: // before Add drops some
		return c.Take(len(c.Blocks) / 2)
	}
	return nil
}

// Folds reports whether the block is one line until a person unfolds it.
func (b *Block) Folds() bool {
	switch b.Kind {
	case agent.EntryCall, agent.EntryThought:
		return true
	}
	return b.Kind == agent.EntryNotice && strings.Contains(b.text, "\n")
}

// Mark is the character in the margin of the block's first line.
func (b *Block) Mark(open bool) rune {
	switch {
	case b.Kind == agent.EntryMessage:
		return '>'
	case b.Kind == agent.EntryReply:
		return ' '
	case b.Folds() && open:
		return '-'
	case b.Folds():
		return '+'
	}
	return '!'
}

// Apart reports whether there is an empty line between two blocks. Folded lines stay together.
func Apart(above, b *Block) bool { return !above.Folds() || !b.Folds() }

// Fold is a foldable block as one line: what was done, and what came of it. Either may be too long for
// a row.
func (b *Block) Fold() (head, result Line) {
	switch b.Kind {
	case agent.EntryThought:
		return Line{Spans: []Span{{"thought ", Faint}, {firstLine(b.text), Faint}}}, Line{}
	case agent.EntryNotice:
		return one(b.tone(), firstLine(b.text)+" "+moreLines(b.text)), Line{}
	}
	head = Line{Spans: append([]Span{{b.tool, Accent}, {" ", Plain}}, b.summary()...)}
	switch {
	case !b.done:
		return head, one(Faint, "running")
	case b.Failed:
		return head, one(Warning, strings.TrimSuffix("failed: "+firstLine(b.result), ": "))
	case b.subject != nil && len(b.subject.Changes) > 0:
		return head, Line{Spans: b.counts()}
	}
	if b.result == "" {
		return head, one(Faint, "done")
	}
	return head, one(Faint, strings.TrimSpace(firstLine(b.result)+" "+moreLines(b.result)))
}

func (b *Block) tone() Tone {
	if b.Failed {
		return Warning
	}
	return Faint
}

// mostFold is how many characters of a text a folded line has at most.
const mostFold = 300

// firstLine is the first line of a text that isn't blank, without its indentation.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line, left := clip(strings.TrimSpace(line), mostFold)
	if left > 0 {
		line += "…"
	}
	return line
}

// moreLines says how many lines a text has beside its first.
func moreLines(text string) string {
	switch n := strings.Count(text, "\n"); n {
	case 0:
		return ""
	case 1:
		return "(+1 line)"
	default:
		return fmt.Sprintf("(+%d lines)", n)
	}
}

// summary is a tool's input in one line.
func (b *Block) summary() []Span {
	switch s := b.subject; {
	case s == nil:
		return []Span{{firstLine(b.text), Plain}}
	case s.Command != "":
		line, _, more := strings.Cut(strings.TrimSpace(s.Command), "\n")
		spans := Shell(firstLine(line))[0].Spans
		if more {
			spans = append(spans, Span{" …", Faint})
		}
		return spans
	case len(s.Changes) > 0:
		var files []string
		for _, c := range s.Changes {
			files = append(files, name(c.File))
		}
		return []Span{{firstLine(strings.Join(files, ", ")), Plain}}
	}
	names := b.subject.Arguments.Names()
	var spans []Span
	for i, n := range names {
		if i > 0 {
			spans = append(spans, Span{"  ", Plain})
		}
		if len(names) > 1 {
			spans = append(spans, Span{name(n) + ": ", Faint})
		}
		var text string
		if raw := b.subject.Arguments[n]; json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		spans = append(spans, Span{firstLine(text), Plain})
		if i == 3 { // more would not fit
			break
		}
	}
	return spans
}

// counts says how many lines changes of files add and remove.
func (b *Block) counts() []Span {
	added, removed := 0, 0
	for _, l := range b.changes() {
		switch l.Sign {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return []Span{{fmt.Sprintf("+%d", added), Added}, {" ", Plain}, {fmt.Sprintf("-%d", removed), Removed}}
}

func (b *Block) changes() []Line {
	var lines []Line
	for _, c := range b.subject.Changes {
		lines = append(lines, Change(c, File{})...)
	}
	return lines
}

// Lines are the block's lines when it isn't folded.
func (b *Block) Lines() []Line {
	var lines []Line
	switch b.Kind {
	case agent.EntryMessage:
		lines = plain(Strong, b.text)
	case agent.EntryReply:
		lines = Markdown(b.text)
	case agent.EntryCall:
		return b.unfolded()
	default:
		lines = plain(b.tone(), b.text)
	}
	return append(lines, missing(b.cutText)...)
}

// unfolded is a tool's use: its name, its input and its result.
func (b *Block) unfolded() []Line {
	lines := []Line{one(Accent, b.tool)}
	switch s := b.subject; {
	case s == nil && b.text != "":
		lines = append(append(lines, Value(json.RawMessage(b.text))...), missing(b.cutText)...)
	case s != nil:
		if s.Command != "" {
			lines = append(lines, Shell(s.Command)...)
		}
		lines = append(append(lines, b.changes()...), arguments(s.Arguments)...)
	}
	switch {
	case !b.done:
		return append(lines, one(Faint, "running"))
	case b.Failed:
		lines = append(lines, one(Warning, "failed:"))
	case b.result == "":
		return append(lines, one(Faint, "no output"))
	default:
		lines = append(lines, one(Faint, "result:"))
	}
	return append(append(lines, plain(Plain, b.result)...), missing(b.cutResult)...)
}

// arguments are a tool's arguments for reading: unlike Arguments, a text with line ends is laid out as
// Markdown.
func arguments(in agent.Input) []Line {
	var lines []Line
	for _, n := range in.Names() {
		var text string
		if json.Unmarshal(in[n], &text) != nil || !strings.Contains(text, "\n") {
			lines = append(lines, Arguments(agent.Input{n: in[n]})...)
			continue
		}
		lines = append(append(lines, one(Accent, name(n)+":")), Markdown(strings.TrimRight(text, "\n"))...)
	}
	return lines
}

// missing says how much of a text isn't kept.
func missing(left int) []Line {
	if left == 0 {
		return nil
	}
	return []Line{one(Warning, fmt.Sprintf("… %d more bytes are in the session log", left))}
}

// Print is the block as text. All lines but the first begin with two blanks, or with a bar inside a
// tool's use, so that no message looks like another block. The caller replaces control characters.
func (b *Block) Print(open bool) []string {
	open = open || !b.Folds()
	mark := string(b.Mark(open)) + " "
	if !open {
		head, result := b.Fold()
		line := head.Text()
		if text := result.Text(); text != "" {
			line += " -> " + text
		}
		return []string{mark + line}
	}
	lines := b.Lines()
	digits := Digits(lines)
	var out []string
	for i, l := range lines {
		switch {
		case i > 0 && b.Folds():
			mark = "| "
		case i > 0:
			mark = "  "
		}
		out = append(out, strings.TrimRight(mark+l.Prefix(digits)+l.Text(), " "))
	}
	return out
}

// Find returns the indexes of the lines that have the text. Letters match in either case, unless the
// text has capitals.
func Find(lines []Line, text string) []int {
	var found []int
	for i, l := range lines {
		if len(Matches(l.Text(), text)) > 0 {
			found = append(found, i)
		}
	}
	return found
}

// Matches returns where in a line a text is, as offsets in bytes.
func Matches(line, text string) []int {
	if text == "" {
		return nil
	}
	if strings.ToLower(text) == text {
		if lower := strings.ToLower(line); len(lower) == len(line) { // otherwise offsets would differ
			line = lower
		}
	}
	var found []int
	for at := 0; ; at += len(text) {
		n := strings.Index(line[at:], text)
		if n < 0 {
			return found
		}
		at += n
		found = append(found, at)
	}
}
