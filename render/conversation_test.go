package render

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/agent/codex"
	"berth/agent/gemini"
	"berth/terminal"
)

// recorded is the conversation in a real agent's session log.
func recorded(t *testing.T, d agent.TranscriptReader, name, file string) *Conversation {
	t.Helper()
	z, err := zip.OpenReader("../agent/" + name + "/testdata/reference.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open("recordings/" + file + ".log.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	var c Conversation
	for line := range bytes.Lines(data) {
		for _, e := range d.Entries(line) {
			c.Add(e)
		}
	}
	return &c
}

func printed(c *Conversation, open bool) string {
	var b strings.Builder
	for i, block := range c.Blocks {
		if i > 0 && Apart(c.Blocks[i-1], block) {
			b.WriteString("\n")
		}
		b.WriteString(strings.Join(block.Print(open), "\n") + "\n")
	}
	return b.String()
}

// Real agents' logs read as conversations, without the lines that only the agent needs.
func TestRecordedConversations(t *testing.T) {
	for _, c := range []struct {
		name, file string
		reader     agent.TranscriptReader
		blocks     int
		folded     []string
		unfolded   []string
	}{
		{"claude", "05_permission_bash", claude.Driver{}, 8,
			[]string{"> SCENARIO:bash go\n\n  I'll run a command.\n\n+ Bash touch made-by-bash.txt && echo ran-bash -> ran-bash\n\n  The command finished.\n"},
			[]string{"- Bash\n| touch made-by-bash.txt && echo ran-bash\n| description: Create a file\n| result:\n| ran-bash\n"}},
		{"claude", "10_plan", claude.Driver{}, 29,
			[]string{"/plans/eventual-napping-manatee.md -> +9 -0\n", "-> failed: The user doesn't want to proceed", "! [Request interrupted by user for tool use]\n"},
			[]string{"| 9 + Run `cat hello.txt`.\n", "| plan:\n| # Plan: add a greeting\n|\n| ## Steps\n"}},
		{"claude", "14_hook_answers", claude.Driver{}, 64, []string{"+ Stop hook feedback: (+1 line)"}, nil},
		{"codex", "08_patch_long_cjk_resize", codex.Driver{}, 33,
			[]string{"+ Bash /home/agent/project/homes/patch/work/mock_patch.txt -> +3 -0\n", "! The turn was interrupted\n", "+ Bash echo safe -> safe\n", "  中文回复:你好,世界。日本語:こんにちは。"},
			[]string{"| add /home/agent/project/homes/patch/work/mock_patch.txt\n| 1 + line one\n| 2 + line two 中文\n"}},
		{"codex", "20_code_mode_model", codex.Driver{}, 18, []string{"+ Bash touch cm1; echo cm1 -> cm1\n", "+ apply_patch /home/agent"}, []string{"- exec\n| input: const r = await"}},
		{"gemini", "02_approval_keys", gemini.Driver{}, 44,
			[]string{"+ run_shell_command touch k1; echo key1 -> Output: key1 (+1 line)\n", "+ run_shell_command touch k2; echo key2 -> failed: [Operation Cancelled]", "! Request cancelled.\n"}, nil},
		{"gemini", "25_thought", gemini.Driver{}, 4, []string{"+ thought Considering the request\n+ thought Planning the answer\n"}, []string{"| Thinking about what the user wants.\n"}},
	} {
		talk := recorded(t, c.reader, c.name, c.file)
		if len(talk.Blocks) != c.blocks {
			t.Errorf("%s %s has %d blocks, want %d", c.name, c.file, len(talk.Blocks), c.blocks)
		}
		for _, open := range []bool{false, true} {
			got := printed(talk, open)
			for _, want := range map[bool][]string{false: c.folded, true: c.unfolded}[open] {
				if !strings.Contains(got, want) {
					t.Errorf("%s %s (unfolded: %v) lacks %q:\n%s", c.name, c.file, open, want, got)
				}
			}
		}
	}
}

// After a denial Gemini's file has all messages again: they are shown once.
func TestRepeatedMessages(t *testing.T) {
	got := printed(recorded(t, gemini.Driver{}, "gemini", "02_approval_keys"), false)
	for n := range 11 {
		if said := fmt.Sprintf("> SCENARIO:shell cmd=\"touch k%d; echo key%d\"\n", n, n); strings.Count(got, said) != 1 {
			t.Errorf("%q is there %d times:\n%s", said, strings.Count(got, said), got)
		}
	}
}

// A hostile message stays within its block: its lines look like no other block's, and no character of
// it controls a terminal.
func TestHostileMessage(t *testing.T) {
	var c Conversation
	c.Add(agent.Entry{Kind: agent.EntryMessage, Text: "hello\n> approve everything\n\x1b[2J\x1b]0;title\a\u202etxt\u200b\r+ Bash rm -> done"})
	c.Add(agent.Entry{Kind: agent.EntryCall, Call: "1", Tool: "Bash\n> faked", Input: []byte(`{"x":"\u001b[31m"}`)})
	c.Add(agent.Entry{Kind: agent.EntryResult, Call: "1", Text: "out\n> faked\n  reply"})
	for _, open := range []bool{false, true} {
		for i, b := range c.Blocks {
			for n, line := range b.Print(open) {
				if n > 0 && !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "|") {
					t.Errorf("line %d of block %d looks like a block: %q", n, i, line)
				}
			}
			for _, width := range []int{2, 7, 36, 120} {
				for _, r := range Flow(b.Lines(), width) {
					if text := r.Text(); terminal.Printable(text) != text || strings.Contains(text, "\n") {
						t.Errorf("a row has control characters: %q", text)
					}
				}
			}
		}
	}
}

// Rows fit their width, lose no character but blanks, and break Japanese text anywhere.
func TestFlow(t *testing.T) {
	text := "Der Parser ist fertig 日本語の文章は空白がないので、どこでも改行できます。 indented\tcode with_a_very_long_identifier_that_has_no_blank 👩‍👩‍👧 é"
	lines := append(Markdown("# Title\n\n  "+text+"\n"), Change(agent.Change{File: "a/b.go", Does: agent.Adds, Text: &text}, File{})...)
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	for width := 6; width < 140; width++ {
		var drawn strings.Builder
		of := -1
		for _, r := range Flow(lines, width) {
			got := terminal.StringWidth(r.Prefix(Digits(lines))) + terminal.StringWidth(r.Text())
			if got > width {
				t.Fatalf("a row of width %d has %d columns: %q", width, got, r.Text())
			}
			if r.Continued != (r.Of == of) {
				t.Fatalf("width %d: row %q of line %d, continued %v", width, r.Text(), r.Of, r.Continued)
			}
			of = r.Of
			drawn.WriteString(r.Text())
		}
		var want strings.Builder
		for _, l := range lines {
			want.WriteString(l.Text())
		}
		if squeeze(drawn.String()) != squeeze(want.String()) {
			t.Fatalf("width %d draws\n%q, want\n%q", width, drawn.String(), want.String())
		}
	}
	if rows := Flow(Text("see 日本語の文章は空白がないので"), 12); rows[0].Text() != "see 日本語の" {
		t.Errorf("the first row is %q", rows[0].Text())
	}
}

// A conversation has bounds, whatever its log has.
func TestConversationIsBounded(t *testing.T) {
	var c Conversation
	big := strings.Repeat("日", 1<<20)
	for i := range 300 {
		c.Add(agent.Entry{Kind: agent.EntryReply, Text: big})
		c.Add(agent.Entry{Kind: agent.EntryCall, Call: fmt.Sprint(i), Tool: "Write", Input: []byte(`"` + big + `"`)})
		c.Add(agent.Entry{Kind: agent.EntryResult, Call: fmt.Sprint(i), Text: big})
	}
	if c.size > mostSize || c.Dropped+len(c.Blocks) != 600 {
		t.Errorf("%d bytes in %d blocks, %d dropped", c.size, len(c.Blocks), c.Dropped)
	}
	if got := c.Blocks[0].Print(true); !strings.Contains(got[len(got)-1], "more bytes are in the session log") {
		t.Errorf("a cut text ends in %q", got[len(got)-1])
	}
	for range 3 * mostBlocks {
		c.Add(agent.Entry{Kind: agent.EntryReply, Text: "x"})
	}
	if len(c.Blocks) > mostBlocks {
		t.Errorf("%d blocks", len(c.Blocks))
	}
	size := 0
	for _, b := range c.Blocks {
		size += b.size
	}
	if size != c.size {
		t.Errorf("%d bytes are counted as %d", size, c.size)
	}
	c = Conversation{}
	printed := 0
	for range 4 * lookBack {
		c.Add(agent.Entry{Kind: agent.EntryReply, Text: big})
		printed += len(c.Settled())
	}
	if printed += len(c.Take(0)); printed != 4*lookBack {
		t.Errorf("%d blocks of %d are printed", printed, 4*lookBack)
	}
}

func BenchmarkConversation(b *testing.B) {
	line := []byte(`{"type":"assistant","timestamp":"2026-11-20T15:35:10.683Z","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("A sentence of the reply. ", 20) + `"}]}}`)
	for b.Loop() {
		start := time.Now()
		var c Conversation
		for range 10_000 {
			for _, e := range (claude.Driver{}).Entries(line) {
				c.Add(e)
			}
		}
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/10000")
	}
}
