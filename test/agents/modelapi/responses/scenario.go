package responses

import (
	"cmp"
	"maps"
	"net/http"
	"strings"
	"time"

	"berth/test/agents/modelapi"
)

// Named makes the scenario that a prompt asks for.
func (API) Named(name, args string, scene modelapi.Scene) (modelapi.Scenario, error) {
	return modelapi.Make(scenarios(), name, args, scene)
}

// scenarios has a line for each, with its arguments.
func scenarios() map[string]modelapi.Maker {
	all := modelapi.Common()
	maps.Copy(all, map[string]modelapi.Maker{
		"run":      run,      // [COMMAND]: in the sandbox, without asking
		"bash":     bash,     // [COMMAND]: outside of it, with permission
		"widen":    widen,    // [COMMAND]: with permission, and with the network and a folder besides
		"later":    later,    // MS COMMAND: the same, after this time
		"bash2":    bash2,    // two commands, one after the other
		"quoting":  quoting,  // a command whose last lines look like another command's dialog
		"parallel": parallel, // [N]: commands in one answer, each with permission
		"edit":     edit,     // [FILE]: a patch outside the working folder
		"ask":      question(color),
		"ask-two":  question(color, size),
		"plan":     plan,  // [MS]: a proposed plan, in plan mode
		"agent":    agent, // [PROMPT]: a subagent, and a command meanwhile

		"error":    httpError, // STATUS [TIMES]: for ever without TIMES
		"quota":    streamError("insufficient_quota", "You exceeded your current quota, please check your plan and billing details."),
		"too-long": streamError("context_length_exceeded", "Your input exceeds the context window of this model."),
		"rate":     streamError("rate_limit_exceeded", "Rate limit reached. Please try again in 1s."),
	})
	return all
}

// command is a call of the tool for commands.
func command(cmd string, escalated bool) modelapi.Block {
	input := map[string]any{"cmd": cmd}
	if escalated {
		input["sandbox_permissions"], input["justification"] = "require_escalated", "The lab wants to run "+cmd
	}
	return modelapi.Tool("exec_command", input)
}

func run(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		modelapi.Say(modelapi.Text("I'll run a command."), command(cmp.Or(args, "echo ran-inside"), false)),
		modelapi.Say(modelapi.Text("The command finished.")),
	}
}

func bash(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		modelapi.Say(modelapi.Text("I'll run a command."), command(cmp.Or(args, "touch made-by-bash.txt && echo ran-bash"), true)),
		modelapi.Say(modelapi.Text("The command finished.")),
	}
}

func widen(args string, _ modelapi.Scene) []modelapi.Step {
	call := modelapi.Tool("exec_command", map[string]any{
		"cmd": cmp.Or(args, "touch more.txt"), "sandbox_permissions": "with_additional_permissions", "justification": "May it?",
		"additional_permissions": map[string]any{"network": map[string]any{"enabled": true}, "file_system": map[string]any{"write": []any{"/srv/more"}}},
	})
	return []modelapi.Step{modelapi.Say(call), modelapi.Say(modelapi.Text("The command finished."))}
}

func later(args string, scene modelapi.Scene) []modelapi.Step {
	ms, cmd, _ := strings.Cut(args, " ")
	steps := bash(cmd, scene)
	steps[0].Pause = time.Duration(modelapi.Numbers(ms, 1000)[0]) * time.Millisecond
	return steps
}

func quoting(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		modelapi.Say(command("touch quoting.txt\nWould you like to run the following command?\n\n$ ls", true)),
		modelapi.Say(modelapi.Text("The command finished.")),
	}
}

func bash2(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		modelapi.Say(command("touch first.txt && echo first", true)),
		modelapi.Say(command("touch second.txt && echo second", true)),
		modelapi.Say(modelapi.Text("Both finished.")),
	}
}

func parallel(args string, _ modelapi.Scene) []modelapi.Step {
	blocks := []modelapi.Block{modelapi.Text("Several at once.")}
	for i := range modelapi.Numbers(args, 2)[0] {
		n := string(rune('1' + i))
		blocks = append(blocks, command("echo these begin with the very same words && touch p"+n+".txt", true))
	}
	return []modelapi.Step{modelapi.Say(blocks...), modelapi.Say(modelapi.Text("All finished."))}
}

func edit(args string, _ modelapi.Scene) []modelapi.Step {
	file := cmp.Or(args, "/tmp/berth-lab-edit.txt")
	patch := "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + file + "\n+hello\n*** End Patch\nEOF"
	return []modelapi.Step{
		modelapi.Say(modelapi.Text("I'll edit a file."), command(patch, false)),
		modelapi.Say(modelapi.Text("The file is edited.")),
	}
}

// asked is one question of request_user_input.
type asked struct {
	id, header, text string
	options          []string
}

var (
	color = asked{"color", "Color", "Which color do you want?", []string{"Red", "Green", "Blue"}}
	size  = asked{"size", "Size", "Which size do you want?", []string{"Small", "Large"}}
)

func (a asked) input() map[string]any {
	var options []any
	for _, label := range a.options {
		options = append(options, map[string]any{"label": label, "description": "Choose " + label})
	}
	return map[string]any{"id": a.id, "header": a.header, "question": a.text, "options": options}
}

func question(list ...asked) modelapi.Maker {
	return func(string, modelapi.Scene) []modelapi.Step {
		var questions []any
		for _, a := range list {
			questions = append(questions, a.input())
		}
		return []modelapi.Step{
			modelapi.Say(modelapi.Text("I have a question."), modelapi.Tool("request_user_input", map[string]any{"questions": questions})),
			modelapi.Say(modelapi.Text("Thank you for the answer.")),
		}
	}
}

const planText = "# Plan: add a greeting\n\n## Steps\n1. Create `hello.txt` with a greeting\n2. Add a test\n"

func plan(args string, _ modelapi.Scene) []modelapi.Step {
	step := modelapi.Say(modelapi.Text("Here is the plan.\n<proposed_plan>\n" + planText + "</proposed_plan>\n"))
	step.Pause = time.Duration(modelapi.Numbers(args, 0)[0]) * time.Millisecond
	return []modelapi.Step{step}
}

func agent(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		modelapi.Say(modelapi.Tool("multi_agent_v1/spawn_agent", map[string]any{"message": cmp.Or(args, "MOCK: text the subagent answers"), "agent_type": "default"})),
		modelapi.Say(command("sleep 4", false)),
		modelapi.Say(modelapi.Text("The subagent is done.")),
	}
}

// kinds are OpenAI's names of failures by their statuses.
var kinds = map[int][2]string{
	400: {"invalid_request_error", "The lab says that this is malformed."},
	401: {"invalid_api_key", "Incorrect API key provided."},
	403: {"permission_denied", "Your project may not use this."},
	429: {"rate_limit_exceeded", "Rate limit reached for requests."},
	500: {"server_error", "The server had an error while processing your request."},
	503: {"overloaded", "The engine is currently overloaded."},
}

func httpError(args string, _ modelapi.Scene) []modelapi.Step {
	n := modelapi.Numbers(args, http.StatusInternalServerError, 0)
	said := kinds[n[0]]
	return []modelapi.Step{
		{Status: n[0], ErrorType: said[0], Message: said[1], Times: n[1]},
		modelapi.Say(modelapi.Text("It worked after all.")),
	}
}

func streamError(code, message string) modelapi.Maker {
	return func(args string, _ modelapi.Scene) []modelapi.Step {
		return []modelapi.Step{
			{StreamError: code, Message: message, Times: modelapi.Numbers(args, 0)[0]},
			modelapi.Say(modelapi.Text("It worked after all.")),
		}
	}
}
