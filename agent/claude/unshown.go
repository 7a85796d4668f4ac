package claude

import (
	"cmp"
	"encoding/json"
	"strings"

	"berth/agent"
)

// A call can name a file that says what it does. Neither a hook nor a dialog shows the file, and Claude reads it by itself.

const (
	skillUnshown    = "The skill's file isn't shown here. It can allow tools and set hooks, and it can change until the skill runs."
	workflowUnshown = "The workflow's script isn't shown here, and its file can hold another one by now."
	workflowUndrawn = "The dialog doesn't show the workflow's script. The file that the script came from can hold another one by now."
	skillTitle      = `Use skill "` // begins the title of a skill's dialog
	workflowTitle   = "Run a dynamic workflow?"
)

// unshown says of such a call that its file isn't shown, and of an edit what else Claude may write.
func unshown(tool string, input json.RawMessage) string {
	switch in, err := agent.ReadInput(input); {
	case tool == "Skill":
		return skillUnshown
	case tool == "Workflow" && (err != nil || in["script"] == nil || len(in) > 1 && (in["scriptPath"] != nil || in["name"] != nil)):
		return workflowUnshown
	case tool == "Edit":
		return rewrites(input)
	case tool == "Bash" || tool == "Monitor":
		return nullsOut(in.Words("command"))
	}
	return ""
}

// unshownBy says the same of a dialog.
func unshownBy(d *agent.Dialog) string {
	switch {
	case d.Subtype == "" && strings.HasPrefix(d.Title, skillTitle):
		return skillUnshown
	case d.Title == workflowTitle:
		return workflowUndrawn
	case d.Tool == "Bash": // a row may end within a line
		return cmp.Or(nullsOut(d.Asked), nullsOut(strings.ReplaceAll(d.Asked, "\n", "")))
	}
	return ""
}

// addText adds a paragraph to a prompt's text.
func addText(r *agent.Request, paragraph string) {
	if paragraph != "" {
		r.Text = agent.Pointer(strings.TrimPrefix(agent.Value(r.Text)+"\n\n"+paragraph, "\n\n"))
	}
}
