package modelapi

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Scenario is what the model does in one turn: a step for each request of it. A
// turn that asks for more than there are steps gets "Done.".
type Scenario struct {
	Name  string
	Steps []Step
}

// Step is one answer: blocks that are streamed, or a failure.
type Step struct {
	Blocks []Block
	Pause  time.Duration // before anything is sent
	Gap    time.Duration // before each delta
	Stop   string        // stop_reason; tool_use or end_turn by the blocks when empty

	// A failure in place of the blocks: an HTTP status with an error body.
	Status             int
	ErrorType, Message string
	Header             map[string]string
	Hang               bool // no answer at all

	// A failure after the blocks.
	Drop        bool   // the connection is closed within the last block
	StreamError string // an error event of this type, with Message

	Times int // how often a failure is given before the next step; 0 for ever
}

// Fails says that the step leaves nothing in the conversation.
func (s Step) Fails() bool { return s.Status != 0 || s.Hang || s.Drop || s.StreamError != "" }

func (s Step) stopReason() string {
	if s.Stop != "" {
		return s.Stop
	}
	for _, b := range s.Blocks {
		if b.Kind == BlockTool {
			return "tool_use"
		}
	}
	return "end_turn"
}

// BlockKind is what a block is.
type BlockKind int

// The kinds of blocks.
const (
	BlockText BlockKind = iota
	BlockThinking
	BlockTool
)

// Block is a part of an answer: see Text, Thinking and Tool.
type Block struct {
	Kind  BlockKind
	Text  string
	Tool  string
	Input map[string]any
	ID    string // of the call, instead of one that no other call has
}

// Text is text for the user.
func Text(text string) Block { return Block{Text: text} }

// Thinking is thought before the answer.
func Thinking(text string) Block { return Block{Kind: BlockThinking, Text: text} }

// Tool calls a tool of the client's.
func Tool(name string, input map[string]any) Block {
	return Block{Kind: BlockTool, Tool: name, Input: input}
}

// Say answers with blocks, as a step.
func Say(blocks ...Block) Step { return Step{Blocks: blocks} }

// Fail answers with an HTTP error, as a step.
func Fail(status int) Step {
	e, ok := failures[status]
	if !ok {
		e = apiFailure{"api_error", "Something failed."}
	}
	return Step{Status: status, ErrorType: e.kind, Message: e.message}
}

type apiFailure struct{ kind, message string }

var failures = map[int]apiFailure{
	400: {"invalid_request_error", "messages: the lab says that this is malformed"},
	401: {"authentication_error", "invalid x-api-key"},
	403: {"permission_error", "Your account may not use this"},
	429: {"rate_limit_error", "This request would exceed your account's rate limit. Please try again later."},
	500: {"api_error", "Internal server error"},
	529: {"overloaded_error", "Overloaded"},
}

// Maker makes a named scenario's steps out of its arguments.
type Maker func(args string, scene Scene) []Step

// Scenarios are the names that a prompt may choose, sorted.
func Scenarios() []string { return slices.Sorted(maps.Keys(named())) }

// Named makes the scenario that a prompt asks for.
func Named(name, args string, scene Scene) (Scenario, error) { return Make(named(), name, args, scene) }

// Make makes one of these scenarios.
func Make(all map[string]Maker, name, args string, scene Scene) (Scenario, error) {
	m, ok := all[name]
	if !ok {
		return Scenario{}, fmt.Errorf("the lab has no scenario %q: %s", name, strings.Join(slices.Sorted(maps.Keys(all)), " "))
	}
	return Scenario{Name: name, Steps: m(args, scene)}, nil
}

// Common are the scenarios that any model can have, a line for each with its
// arguments.
func Common() map[string]Maker {
	return map[string]Maker{
		"text":     text,     // [WORDS]
		"thinking": thinking, // [WORDS]
		"ponder":   ponder,   // [MS]: thinks, each delta so far from the last, for a long time
		"slow":     slow,     // [DELTAS [MS]]: that many lines, so far apart
		"long":     long,     // [LINES]
		"cjk":      func(string, Scene) []Step { return []Step{Say(Text(cjk))} },
		"markdown": func(string, Scene) []Step { return []Step{Say(Text(markdown))} },

		"error": httpError, // STATUS [TIMES]: for ever without TIMES
		"drop":  drop,      // [TIMES]: the connection is cut amid the stream
		"hang":  hang,      // no answer
	}
}

// named has those for Claude Code.
func named() map[string]Maker {
	all := Common()
	maps.Copy(all, map[string]Maker{
		"bash":     bash,     // [COMMAND]
		"bash2":    bash2,    // two commands, one after the other
		"write":    write,    // [FILE]
		"edit":     edit,     // [FILE]: read, then hello becomes goodbye
		"fetch":    fetch,    // [URL]
		"parallel": parallel, // three commands in one message
		"alike":    alike,    // two that begin alike
		"writes":   writes,   // two files in one message
		"mixed":    mixed,    // Write, Bash and WebFetch in one message
		"shell":    shell,    // [COMMAND]: Bash in the background

		"ask":        question(color),
		"ask-two":    question(color, size),
		"ask-three":  question(color, size, features),
		"ask-many":   question(features),
		"ask-layout": question(layout), // options with previews
		"ask-mixed":  question(features, layout, size),

		"form": form, // [FIELD..]: an MCP server's tool asks for text, flag, choice, number

		"plan":     plan,     // enters plan mode, writes the plan, asks
		"plan-now": planNow,  // the same for a session in plan mode
		"agent":    subagent, // [PROMPT]: a subagent, awaited
		"agent-bg": subagentBackground,

		"credit":    credit,      // no money left
		"too-long":  tooLong,     // the prompt does not fit
		"mid-error": midError,    // an error event amid the stream
		"refusal":   refusal,     // stop_reason refusal
		"cut":       cutAtTokens, // stop_reason max_tokens, then the rest
	})
	return all
}

func text(args string, _ Scene) []Step {
	return []Step{Say(Text(cmp.Or(args, "A short answer.")))}
}

func thinking(args string, _ Scene) []Step {
	return []Step{{Blocks: []Block{Thinking("Let me think about it for a moment. There are two ways."), Text(cmp.Or(args, "I thought about it."))}, Gap: 20 * time.Millisecond}}
}

func ponder(args string, _ Scene) []Step {
	gap := time.Duration(Numbers(args, 60)[0]) * time.Millisecond
	return []Step{{Blocks: []Block{Thinking(strings.Repeat("There is much to think about. ", 200)), Text("I have thought.")}, Gap: gap}}
}

// Numbers reads up to len(defaults) numbers.
func Numbers(args string, defaults ...int) []int {
	for i, word := range strings.Fields(args) {
		if n, err := strconv.Atoi(word); err == nil && i < len(defaults) {
			defaults[i] = n
		}
	}
	return defaults
}

func lines(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "line %03d\n", i+1)
	}
	return all.String()
}

func slow(args string, _ Scene) []Step {
	n := Numbers(args, 20, 250)
	return []Step{{Blocks: []Block{Text(lines(n[0]) + "slow end")}, Gap: time.Duration(n[1]) * time.Millisecond}}
}

func long(args string, _ Scene) []Step {
	return []Step{Say(Text(lines(Numbers(args, 500)[0]) + "\nlong end"))}
}

const cjk = "你好，世界。这是一个测试。\n\nこんにちは、世界。한국어 텍스트.\n\nEmoji: 🦀 👩‍👩‍👧‍👦 🇩🇪 ✈️ e\u0301\n\ncjk end"

const markdown = "# Heading\n\n- one\n- **two**\n  - nested `code`\n\n1. first\n2. second\n\n> a quotation\n\n```go\nfunc main() { fmt.Println(\"hi\") }\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nmarkdown end"

func runs(command string) Block {
	return Tool("Bash", map[string]any{"command": command, "description": "Run the lab's command"})
}

func bash(args string, _ Scene) []Step {
	return []Step{Say(Text("I'll run a command."), runs(cmp.Or(args, "touch made-by-bash.txt && echo ran-bash"))), Say(Text("The command finished."))}
}

func bash2(string, Scene) []Step {
	return []Step{Say(runs("touch first.txt && echo first")), Say(runs("touch second.txt && echo second")), Say(Text("Both finished."))}
}

func shell(args string, _ Scene) []Step {
	call := runs(cmp.Or(args, "sleep 3; echo background-done"))
	call.Input["run_in_background"] = true
	return []Step{Say(call), Say(Text("It runs in the background."))}
}

func in(scene Scene, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(scene.Dir, name)
}

func write(args string, scene Scene) []Step {
	return []Step{
		Say(Text("I'll write a file."), Tool("Write", map[string]any{"file_path": in(scene, cmp.Or(args, "hello.txt")), "content": "hello\nworld\n"})),
		Say(Text("The file is written.")),
	}
}

func edit(args string, scene Scene) []Step {
	file := in(scene, cmp.Or(args, "sample.txt"))
	return []Step{
		Say(Tool("Read", map[string]any{"file_path": file})),
		Say(Tool("Edit", map[string]any{"file_path": file, "old_string": "hello", "new_string": "goodbye"})),
		Say(Text("The file is edited.")),
	}
}

func fetch(args string, _ Scene) []Step {
	return []Step{
		Say(Tool("WebFetch", map[string]any{"url": cmp.Or(args, "https://berth.invalid/"), "prompt": "summarise"})),
		Say(Text("The page was looked at.")),
	}
}

func parallel(string, Scene) []Step {
	return []Step{
		Say(Text("Three at once."), runs("touch p1.txt && echo p1"), runs("touch p2.txt && echo p2"), runs("touch p3.txt && echo p3")),
		Say(Text("All three finished.")),
	}
}

func alike(string, Scene) []Step {
	const begin = "echo these two commands begin with the very same words && touch alike"
	return []Step{
		Say(Text("Two that begin alike."), runs(begin+"1.txt"), runs(begin+"2.txt")),
		Say(Text("Both finished.")),
	}
}

func writes(_ string, scene Scene) []Step {
	write := func(file string) Block {
		return Tool("Write", map[string]any{"file_path": in(scene, file), "content": "the same text\n"})
	}
	return []Step{Say(Text("Two files."), write("w1.txt"), write("w2.txt")), Say(Text("Both are written."))}
}

func mixed(_ string, scene Scene) []Step {
	return []Step{
		Say(
			Tool("Write", map[string]any{"file_path": in(scene, "mixed.txt"), "content": "mixed\n"}),
			runs("touch mixed-bash.txt"),
			Tool("WebFetch", map[string]any{"url": "https://berth.invalid/", "prompt": "summarise"}),
		),
		Say(Text("All three finished.")),
	}
}
