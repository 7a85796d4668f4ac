package modelapi

import (
	"cmp"
	"strings"
	"time"
)

// asked is one question of AskUserQuestion.
type asked struct {
	header, text string
	options      []string
	multi        bool
	previews     bool
}

var (
	color    = asked{header: "Color", text: "Which color do you want?", options: []string{"Red", "Green", "Blue"}}
	size     = asked{header: "Size", text: "Which size do you want?", options: []string{"Small", "Large"}}
	features = asked{header: "Features", text: "Which features do you want?", options: []string{"Logging", "Metrics", "Tracing"}, multi: true}
	layout   = asked{header: "Layout", text: "Which layout do you want?", options: []string{"Sidebar", "Topbar"}, previews: true}
)

func (a asked) input() map[string]any {
	var options []any
	for _, label := range a.options {
		o := map[string]any{"label": label, "description": "Choose " + label}
		if a.previews {
			o["preview"] = "+------+\n| " + label + "\n+------+"
		}
		options = append(options, o)
	}
	return map[string]any{"question": a.text, "header": a.header, "options": options, "multiSelect": a.multi}
}

func question(list ...asked) Maker {
	return func(string, Scene) []Step {
		var questions []any
		for _, a := range list {
			questions = append(questions, a.input())
		}
		return []Step{
			Say(Text("I have a question."), Tool("AskUserQuestion", map[string]any{"questions": questions})),
			Say(Text("Thank you for the answer.")),
		}
	}
}

// fields are what a form may ask for.
var fields = map[string]map[string]any{
	"name":  {"type": "string", "title": "Name", "description": "What it is called"},
	"sure":  {"type": "boolean", "title": "Sure", "description": "Whether it is sure"},
	"size":  {"type": "string", "title": "Size", "enum": []any{"small", "medium", "large"}},
	"count": {"type": "integer", "title": "Count", "minimum": 1, "maximum": 10},
	"ratio": {"type": "number", "title": "Ratio"},
	"note":  {"type": "string", "title": "Note", "default": "as before"},
	"tags":  {"type": "array", "title": "Tags", "items": map[string]any{"type": "string", "enum": []any{"red", "green", "blue"}}},
}

// form has the lab's MCP server ask for the fields that are named; the name is
// required.
func form(args string, _ Scene) []Step {
	properties := map[string]any{}
	for _, name := range strings.Fields(cmp.Or(args, "name sure")) {
		if fields[name] != nil {
			properties[name] = fields[name]
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "required": []any{}}
	if properties["name"] != nil {
		schema["required"] = []any{"name"}
	}
	return []Step{
		Say(Text("The server will ask."), Tool("mcp__lab__ask", map[string]any{"message": "Please fill this in", "schema": schema})),
		Say(Text("The form is done.")),
	}
}

const planText = "# Plan: add a greeting\n\n## Steps\n1. Create `hello.txt` with a greeting\n2. Add a test\n\n## Verification\nRun `cat hello.txt`.\n"

func plan(args string, scene Scene) []Step {
	return append([]Step{Say(Text("Let me plan first."), Tool("EnterPlanMode", map[string]any{}))}, planNow(args, scene)...)
}

func planNow(_ string, scene Scene) []Step {
	return []Step{
		Say(Tool("Write", map[string]any{"file_path": scene.PlanFile, "content": planText})),
		Say(Text("Here is the plan."), Tool("ExitPlanMode", map[string]any{})),
		Say(Text("The plan was answered.")),
	}
}

func agentCall(args string, background bool) Block {
	return Tool("Agent", map[string]any{
		"description": "Sub task", "prompt": cmp.Or(args, "MOCK: text the subagent answers"), "subagent_type": "general-purpose", "run_in_background": background,
	})
}

func subagent(args string, _ Scene) []Step {
	return []Step{Say(Text("I'll ask a subagent."), agentCall(args, false)), Say(Text("The subagent is done."))}
}

func subagentBackground(args string, _ Scene) []Step {
	return []Step{Say(agentCall(cmp.Or(args, "MOCK: slow 8 250"), true)), Say(Text("The subagent works in the background."))}
}

func httpError(args string, _ Scene) []Step {
	n := Numbers(args, 500, 0)
	step := Fail(n[0])
	step.Times = n[1]
	if n[0] == 429 && n[1] > 0 {
		step.Header = map[string]string{"Retry-After": "1"}
	}
	return []Step{step, Say(Text("It worked after all."))}
}

func credit(string, Scene) []Step {
	return []Step{{Status: 400, ErrorType: "invalid_request_error", Message: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}
}

func tooLong(string, Scene) []Step {
	return []Step{{Status: 400, ErrorType: "invalid_request_error", Message: "prompt is too long: 250000 tokens > 200000 maximum"}}
}

func midError(string, Scene) []Step {
	return []Step{{Blocks: []Block{Text("This begins well.\n")}, StreamError: "api_error", Message: "the lab ends this"}}
}

func drop(args string, _ Scene) []Step {
	return []Step{
		{Blocks: []Block{Text("This begins well and then the line is\n")}, Drop: true, Gap: 10 * time.Millisecond, Times: Numbers(args, 0)[0]},
		Say(Text("The line is back.")),
	}
}

func hang(string, Scene) []Step { return []Step{{Hang: true}} }

func refusal(string, Scene) []Step {
	return []Step{{Blocks: []Block{Text("I")}, Stop: "refusal"}}
}

func cutAtTokens(string, Scene) []Step {
	return []Step{{Blocks: []Block{Text("The first half,\n")}, Stop: "max_tokens"}, Say(Text("the second half."))}
}
