package opencode

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"berth/test/agents/modelapi"
	"berth/test/agents/modelapi/chat"
)

// startAPI starts a model that calls opencode's tools.
func startAPI(ctx context.Context) (*modelapi.Server, error) {
	return chat.Start(ctx, chat.API{Scenarios: map[string]modelapi.Maker{
		"shell":    shell,    // [COMMAND]
		"shell2":   shell2,   // two commands, one after the other
		"parallel": parallel, // two commands at once
		"write":    write,    // [FILE]
		"edit":     edit,     // [FILE]: read, then hello becomes goodbye
		"fetch":    fetch,    // [URL]
		"folder":   folder,   // a command in the folder above the workspace's
		"task":     task,     // [PROMPT]: a subagent
		"tasks":    tasks,    // two subagents at once, each with a command of the same id
		"list":     list,     // [FOLDER]: its command
		"ask":      ask(color),
		"ask-two":  ask(color, features),
	}})
}

func runs(command string) modelapi.Block {
	return modelapi.Tool("bash", map[string]any{"command": command, "description": "Run the lab's command"})
}

func shell(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{modelapi.Say(modelapi.Text("I'll run a command."), runs(cmp.Or(args, "touch made.txt"))), modelapi.Say(modelapi.Text("The command finished."))}
}

func shell2(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{modelapi.Say(runs("touch first.txt")), modelapi.Say(runs("touch second.txt")), modelapi.Say(modelapi.Text("Both finished."))}
}

func parallel(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{modelapi.Say(runs("touch p1.txt"), runs("touch p2.txt")), modelapi.Say(modelapi.Text("Both finished."))}
}

func write(args string, scene modelapi.Scene) []modelapi.Step {
	file := filepath.Join(scene.Dir, cmp.Or(args, "hello.txt"))
	return []modelapi.Step{
		modelapi.Say(modelapi.Tool("write", map[string]any{"filePath": file, "content": strings.Repeat("hello\nworld\n", 20)})),
		modelapi.Say(modelapi.Text("The file is written.")),
	}
}

func edit(args string, scene modelapi.Scene) []modelapi.Step {
	file := filepath.Join(scene.Dir, cmp.Or(args, "sample.txt"))
	return []modelapi.Step{
		modelapi.Say(modelapi.Tool("read", map[string]any{"filePath": file})),
		modelapi.Say(modelapi.Tool("edit", map[string]any{"filePath": file, "oldString": "hello", "newString": "goodbye"})),
		modelapi.Say(modelapi.Text("The file is edited.")),
	}
}

func fetch(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		modelapi.Say(modelapi.Tool("webfetch", map[string]any{"url": cmp.Or(args, "https://berth.invalid/"), "format": "text"})),
		modelapi.Say(modelapi.Text("The page was looked at.")),
	}
}

func folder(string, modelapi.Scene) []modelapi.Step {
	call := runs("touch beside.txt")
	call.Input["workdir"] = "/tmp"
	return []modelapi.Step{modelapi.Say(call), modelapi.Say(modelapi.Text("The command finished."))}
}

func task(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		modelapi.Say(modelapi.Tool("task", map[string]any{"description": "look around", "prompt": args, "subagent_type": "general"})),
		modelapi.Say(modelapi.Text("The subagent is done.")),
	}
}

func tasks(string, modelapi.Scene) []modelapi.Step {
	of := func(folder string) modelapi.Block {
		return modelapi.Tool("task", map[string]any{"description": "look around", "prompt": "MOCK: list " + folder, "subagent_type": "general"})
	}
	return []modelapi.Step{modelapi.Say(of("one"), of("two")), modelapi.Say(modelapi.Text("The subagents are done."))}
}

func list(args string, _ modelapi.Scene) []modelapi.Step {
	call := runs("touch listed.txt")
	call.Input["workdir"], call.ID = args, "functions.bash:0"
	return []modelapi.Step{modelapi.Say(call), modelapi.Say(modelapi.Text("The folder is listed."))}
}

// question is one question of the tool of that name.
type question struct {
	header, text string
	options      []string
	multiple     bool
}

var (
	color    = question{header: "Color", text: "Which color do you want?", options: []string{"Red", "Green", "Blue"}}
	features = question{header: "Features", text: "Which features do you want?", options: []string{"Logging", "Metrics", "Tracing"}, multiple: true}
)

func ask(list ...question) modelapi.Maker {
	return func(string, modelapi.Scene) []modelapi.Step {
		var questions []any
		for _, q := range list {
			var options []any
			for _, label := range q.options {
				options = append(options, map[string]any{"label": label, "description": "Choose " + label})
			}
			one := map[string]any{"question": q.text, "header": q.header, "options": options}
			if q.multiple {
				one["multiple"] = true
			}
			questions = append(questions, one)
		}
		return []modelapi.Step{
			modelapi.Say(modelapi.Text("I have a question."), modelapi.Tool("question", map[string]any{"questions": questions})),
			modelapi.Say(modelapi.Text("Thank you for the answer.")),
		}
	}
}
