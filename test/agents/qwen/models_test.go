//go:build agents

package qwen

import (
	"cmp"
	"strings"
	"time"

	"berth/test/agents/modelapi"
)

// message returns the user's own text: Qwen Code puts reminders and a picture of the folder before it, as texts
// of their own.
func message(text string) (string, bool) {
	return text, !strings.HasPrefix(text, "<system-reminder>") && !strings.HasPrefix(text, "This is the Qwen Code.")
}

// scenarios are what the model does with Qwen Code's tools.
func scenarios() map[string]modelapi.Maker {
	return map[string]modelapi.Maker{
		"shell":    shell,      // [COMMAND]
		"later":    later,      // MS: a command, this long after the request
		"shell2":   shellTwice, // two commands, one after the other
		"parallel": parallel,   // two commands at once
		"write":    write,      // [FILE]: an absolute path, Qwen Code takes no other
		"edit":     edit,       // [FILE]: read, then hello becomes goodbye

		"ask":       question(color),
		"ask-many":  question(features),
		"ask-two":   question(color, size2),
		"ask-mixed": question(features, color),
		"plan":      plan, // for a session in plan mode

		"agent":      subagent(false), // a subagent is asked for the rest
		"background": subagent(true),  // one in the background
	}
}

func say(blocks ...modelapi.Block) modelapi.Step { return modelapi.Say(blocks...) }

func text(words string) modelapi.Block { return modelapi.Text(words) }

func runs(command string) modelapi.Block {
	return modelapi.Tool("run_shell_command", map[string]any{"command": command, "description": "Run the lab's command", "is_background": false})
}

func shell(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{say(text("I'll run a command."), runs(cmp.Or(args, "touch made-by-shell.txt && echo ran-shell"))), say(text("The command finished."))}
}

func subagent(background bool) modelapi.Maker {
	return func(args string, _ modelapi.Scene) []modelapi.Step {
		return []modelapi.Step{
			say(modelapi.Tool("agent", map[string]any{
				"description": "Sub task", "prompt": "MOCK: " + args, "subagent_type": "general-purpose", "run_in_background": background,
			})),
			say(text("The subagent was asked.")),
		}
	}
}

func later(args string, _ modelapi.Scene) []modelapi.Step {
	step := say(runs("touch later.txt"))
	step.Pause = time.Duration(modelapi.Numbers(args, 1000)[0]) * time.Millisecond
	return []modelapi.Step{step, say(text("The command finished."))}
}

func shellTwice(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{say(runs("touch first.txt")), say(runs("mkdir second")), say(text("Both finished."))}
}

func parallel(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{say(text("Two at once."), runs("touch p1.txt"), runs("mkdir p2")), say(text("Both finished."))}
}

func write(args string, _ modelapi.Scene) []modelapi.Step {
	file := cmp.Or(args, "hello.txt")
	return []modelapi.Step{
		say(text("I'll write a file."), modelapi.Tool("write_file", map[string]any{"file_path": file, "content": "hello\nworld 世界\n"})),
		say(text("The file is written.")),
	}
}

func edit(args string, _ modelapi.Scene) []modelapi.Step {
	file := cmp.Or(args, "sample.txt")
	return []modelapi.Step{
		say(modelapi.Tool("read_file", map[string]any{"file_path": file})),
		say(modelapi.Tool("edit", map[string]any{"file_path": file, "old_string": "hello", "new_string": "goodbye"})),
		say(text("The file is edited.")),
	}
}

// asked is one question of ask_user_question.
type asked struct {
	header, text string
	options      []string
	multi        bool
}

var (
	color    = asked{header: "Color", text: "Which color do you want?", options: []string{"Red", "Green", "Blue"}}
	size2    = asked{header: "Size", text: "Which size do you want?", options: []string{"Small", "Large"}}
	features = asked{header: "Features", text: "Which features do you want?", options: []string{"Logging", "Metrics", "Tracing"}, multi: true}
)

func question(list ...asked) modelapi.Maker {
	var questions []any
	for _, a := range list {
		var options []any
		for _, label := range a.options {
			options = append(options, map[string]any{"label": label, "description": "Choose " + label})
		}
		questions = append(questions, map[string]any{"question": a.text, "header": a.header, "options": options, "multiSelect": a.multi})
	}
	return func(string, modelapi.Scene) []modelapi.Step {
		return []modelapi.Step{
			say(text("I have a question."), modelapi.Tool("ask_user_question", map[string]any{"questions": questions})),
			say(text("Thank you for the answer.")),
		}
	}
}

const planText = "# Plan: add a greeting\n\n## Steps\n1. Create `hello.txt` with a greeting\n2. Add a test\n\n## Verification\nRun `cat hello.txt`.\n"

func plan(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		say(text("Here is the plan."), modelapi.Tool("exit_plan_mode", map[string]any{"plan": planText})),
		say(text("The plan was answered.")),
	}
}
