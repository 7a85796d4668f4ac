package generate

import "berth/test/agents/modelapi"

// asked is one question of ask_user.
type asked struct {
	kind, header, text string // choice, text, yesno
	options            []string
	multi              bool
	placeholder        string
}

var (
	color    = asked{kind: "choice", header: "Color", text: "Which color do you want?", options: []string{"Red", "Green", "Blue"}}
	features = asked{kind: "choice", header: "Features", text: "Which features do you want?", options: []string{"Logging", "Metrics", "Tracing"}, multi: true}
	side     = asked{kind: "choice", header: "Side", text: "Which of these four?", options: []string{"North", "East", "South", "West"}}
	places   = asked{kind: "choice", header: "Places", text: "Which places shall it go to?", options: []string{"Sea", "Hills", "Town", "Wood"}, multi: true, placeholder: "or where else"}
	sure     = asked{kind: "yesno", header: "Sure", text: "Are you sure about it?"}
	call     = asked{kind: "text", header: "Name", text: "What shall it be called?", placeholder: "a short name"}
)

func (a asked) input() map[string]any {
	in := map[string]any{"question": a.text, "header": a.header, "type": a.kind}
	if a.placeholder != "" {
		in["placeholder"] = a.placeholder
	}
	if a.kind == "choice" {
		var options []any
		for _, label := range a.options {
			options = append(options, map[string]any{"label": label, "description": "Choose " + label})
		}
		in["options"], in["multiSelect"] = options, a.multi
	}
	return in
}

func question(list ...asked) modelapi.Maker {
	return func(string, modelapi.Scene) []modelapi.Step {
		var questions []any
		for _, a := range list {
			questions = append(questions, a.input())
		}
		return []modelapi.Step{
			say(text("I have a question."), modelapi.Tool("ask_user", map[string]any{"questions": questions})),
			say(text("Thank you for the answer.")),
		}
	}
}

const planText = "# Plan: add a greeting\n\n## Steps\n1. Create `hello.txt` with a greeting\n2. Add a test\n\n## Verification\nRun `cat hello.txt`.\n"

func enterPlan(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		say(text("Let me plan first."), modelapi.Tool("enter_plan_mode", map[string]any{"reason": "The lab wants a plan."})),
		say(text("In plan mode.")),
	}
}

// planFile is in the folder that Gemini has for plans: names are read from there.
const planFile = "greeting.md"

func plan(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		say(text("Let me write the plan."), modelapi.Tool("write_file", map[string]any{"file_path": planFile, "content": planText})),
		say(text("Here is the plan."), modelapi.Tool("exit_plan_mode", map[string]any{"plan_filename": planFile})),
		say(text("The plan was answered.")),
	}
}
