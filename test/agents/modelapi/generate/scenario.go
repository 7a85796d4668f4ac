package generate

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/test/agents/modelapi"
)

// Named makes the scenario that a prompt chooses.
func (API) Named(name, args string, scene modelapi.Scene) (modelapi.Scenario, error) {
	return modelapi.Make(named(), name, args, scene)
}

// Fail answers with an HTTP error, as a step.
func Fail(status int) modelapi.Step {
	return modelapi.Step{Status: status, Message: "the lab answers " + strconv.Itoa(status)}
}

// named has those for Gemini CLI.
func named() map[string]modelapi.Maker {
	all := modelapi.Common()
	maps.Copy(all, map[string]modelapi.Maker{
		"thought": thought, // [WORDS]
		"late":    late,    // [MS]: nothing for this time, then a text

		"shell":    shell,      // [COMMAND]
		"shell2":   shellTwice, // two commands, one after the other
		"later":    later,      // MS: a command, this long after the request
		"parallel": parallel,   // two commands at once
		"write":    write,      // [FILE]
		"replace":  replace,    // [FILE ...]: read, then hello becomes goodbye
		"loop":     loop,       // the same call over and over

		"ask":       question(color),
		"ask-text":  question(call),
		"ask-yesno": question(sure),
		"ask-many":  question(features),
		"ask-four":  question(side),
		"ask-ticks": question(places), // four, and a placeholder of its own
		"ask-three": question(color, sure, call),
		"ask-mixed": question(features, color),

		"enter-plan": enterPlan,
		"plan":       plan, // for a session in plan mode: writes one, asks

		"mcp": mcp, // TOOL: of the lab's own server of tools

		"error":  httpError, // STATUS [TIMES]: for ever without TIMES
		"quota":  quota,     // [TIMES]: the day's is used up
		"no-end": noEnd,     // [TIMES]: the stream ends without a reason
		"safety": safety,    // the answer is cut for safety
	})
	return all
}

func say(blocks ...modelapi.Block) modelapi.Step { return modelapi.Say(blocks...) }

func text(words string) modelapi.Block { return modelapi.Text(words) }

func thought(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{{
		Blocks: []modelapi.Block{modelapi.Thinking("**Considering the options**\n\nThere are two ways."), text(cmp.Or(args, "I thought about it."))},
		Gap:    400 * time.Millisecond,
	}}
}

func late(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{{Blocks: []modelapi.Block{text("late end")}, Pause: millis(args)}}
}

func millis(args string) time.Duration {
	return time.Duration(modelapi.Numbers(args, 1000)[0]) * time.Millisecond
}

func runs(command string) modelapi.Block {
	return modelapi.Tool("run_shell_command", map[string]any{"command": command, "description": "Run the lab's command"})
}

func shell(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{say(text("I'll run a command."), runs(cmp.Or(args, "touch made-by-shell.txt && echo ran-shell"))), say(text("The command finished."))}
}

func later(args string, _ modelapi.Scene) []modelapi.Step {
	step := say(runs("touch later.txt"))
	step.Pause = millis(args)
	return []modelapi.Step{step, say(text("The command finished."))}
}

func shellTwice(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{say(runs("touch first.txt")), say(runs("mkdir second")), say(text("Both finished."))}
}

func parallel(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{say(text("Two at once."), runs("touch p1.txt"), runs("mkdir p2")), say(text("Both finished."))}
}

func write(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		say(text("I'll write a file."), modelapi.Tool("write_file", map[string]any{"file_path": cmp.Or(args, "hello.txt"), "content": "hello\nworld\n"})),
		say(text("The file is written.")),
	}
}

func replace(args string, _ modelapi.Scene) []modelapi.Step {
	file, _, _ := strings.Cut(cmp.Or(args, "sample.txt"), " ")
	return []modelapi.Step{
		say(modelapi.Tool("read_file", map[string]any{"file_path": file})),
		say(modelapi.Tool("replace", map[string]any{"file_path": file, "old_string": "hello", "new_string": "goodbye", "instruction": "Say goodbye instead."})),
		say(text("The file is edited.")),
	}
}

func loop(string, modelapi.Scene) []modelapi.Step {
	const more = 12 // than Gemini bears
	return slices.Repeat([]modelapi.Step{say(modelapi.Tool("list_directory", map[string]any{"dir_path": "."}))}, more)
}

func mcp(args string, _ modelapi.Scene) []modelapi.Step {
	input := map[string]any{"message": "Please fill this in", "schema": map[string]any{"type": "object", "properties": map[string]any{}}}
	return []modelapi.Step{say(modelapi.Tool(cmp.Or(args, "mcp_lab_ask"), input)), say(text("The tool is through."))}
}

func httpError(args string, _ modelapi.Scene) []modelapi.Step {
	n := modelapi.Numbers(args, 500, 0)
	step := Fail(n[0])
	step.Times = n[1]
	return []modelapi.Step{step, say(text("It worked after all."))}
}

func quota(args string, _ modelapi.Scene) []modelapi.Step {
	step := Fail(429)
	step.Times, step.ErrorType = modelapi.Numbers(args, 0)[0], errorQuota
	step.Message = "You exceeded your current quota, please check your plan and billing details."
	return []modelapi.Step{step, say(text("It worked after all."))}
}

func noEnd(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		{Blocks: []modelapi.Block{text("This begins well and then nothing\n")}, StreamError: streamEnds, Times: modelapi.Numbers(args, 0)[0]},
		say(text("It has an end.")),
	}
}

func safety(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{{Blocks: []modelapi.Block{text("I")}, Stop: "SAFETY"}}
}
