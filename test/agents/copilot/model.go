package copilot

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"berth/test/agents/modelapi"
	"berth/test/agents/modelapi/chat"
)

// StartAPI serves the model API of the lab, with the tools of Copilot.
func StartAPI(ctx context.Context) (*modelapi.Server, error) {
	return chat.Start(ctx, chat.API{Message: message, Scenarios: map[string]modelapi.Maker{
		"bash":     bash, // [COMMAND]
		"bash2":    bash2,
		"parallel": parallel, // [N]
		"create":   create,   // [FILE]
		"edit":     edit,     // [FILE]
		"ask":      ask,      // a choice of one
		"form":     form,     // several fields
	}})
}

// message is what the user wrote of a text: Copilot puts the time before it. Texts in other tags are
// Copilot's own.
func message(text string) (string, bool) {
	if _, after, ok := strings.Cut(text, "</current_datetime>\n\n"); ok {
		return after, true
	}
	return text, !strings.HasPrefix(text, "<")
}

func runs(command string) modelapi.Block {
	return modelapi.Tool("bash", map[string]any{"command": command, "description": "Run the lab's command"})
}

func bash(args string, _ modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		modelapi.Say(modelapi.Text("I'll run a command."), runs(cmp.Or(args, "touch made-by-bash.txt"))), modelapi.Say(modelapi.Text("The command finished.")),
	}
}

func bash2(string, modelapi.Scene) []modelapi.Step {
	return []modelapi.Step{
		modelapi.Say(runs("touch first.txt")), modelapi.Say(runs("touch second.txt")), modelapi.Say(modelapi.Text("Both finished.")),
	}
}

func parallel(args string, _ modelapi.Scene) []modelapi.Step {
	blocks := []modelapi.Block{modelapi.Text("All at once.")}
	for i := range modelapi.Numbers(args, 3)[0] {
		blocks = append(blocks, runs(fmt.Sprintf("touch p%d.txt", i+1)))
	}
	return []modelapi.Step{modelapi.Say(blocks...), modelapi.Say(modelapi.Text("All finished."))}
}

func create(args string, scene modelapi.Scene) []modelapi.Step {
	file := filepath.Join(scene.Dir, cmp.Or(args, "new.txt"))
	return []modelapi.Step{
		modelapi.Say(modelapi.Tool("create", map[string]any{"path": file, "file_text": "one\ntwo\n"})), modelapi.Say(modelapi.Text("The file is written.")),
	}
}

func edit(args string, scene modelapi.Scene) []modelapi.Step {
	name, _, _ := strings.Cut(args, " ")
	file := filepath.Join(scene.Dir, cmp.Or(name, "sample.txt"))
	return []modelapi.Step{
		modelapi.Say(modelapi.Tool("edit", map[string]any{"path": file, "old_str": "world", "new_str": "there"})),
		modelapi.Say(modelapi.Text("The file is edited.")),
	}
}

func asks(properties map[string]any) []modelapi.Step {
	return []modelapi.Step{
		modelapi.Say(modelapi.Tool("ask_user", map[string]any{
			"message": "Which one should it be?", "requestedSchema": map[string]any{"type": "object", "properties": properties},
		})),
		modelapi.Say(modelapi.Text("I know it now.")),
	}
}

func ask(string, modelapi.Scene) []modelapi.Step {
	return asks(map[string]any{"color": map[string]any{"type": "string", "title": "Color", "enum": []string{"Red", "Green", "Blue"}}})
}

func form(string, modelapi.Scene) []modelapi.Step {
	return asks(map[string]any{
		"name": map[string]any{"type": "string", "title": "Name"}, "count": map[string]any{"type": "integer", "title": "Count"},
	})
}
