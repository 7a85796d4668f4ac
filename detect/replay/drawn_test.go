package replay_test

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"berth/agent"
	"berth/terminal"
)

// agentUnder is an agent as it draws its dialogs and as its hooks tell of them. The
// dialogs are as the recordings have them.
type agentUnder struct {
	driver agent.Driver
	waits  bool   // its hooks wait for an answer
	asks   bool   // hooks of questions wait for an answer
	lead   string // before a command in its dialog, and how many columns are beside it
	beside int
	draw   func(c call, cols int) []string
	hook   func(event string, c call) []string
}

// breakRows breaks a text as the agents do.
func breakRows(text string, width int) (rows []string) {
	for _, line := range strings.Split(text, "\n") {
		row := ""
		for i, word := range strings.Split(line, " ") {
			if i > 0 {
				if terminal.StringWidth(row) >= width {
					rows, row = append(rows, row), ""
				}
				row += " "
			}
			if row != "" && terminal.StringWidth(word) <= width && terminal.StringWidth(row)+terminal.StringWidth(word) > width {
				rows, row = append(rows, row), ""
			}
			for word != "" {
				cluster, rest, columns := terminal.NextCluster(word)
				if terminal.StringWidth(row)+columns > width {
					rows, row = append(rows, row), ""
				}
				row, word = row+cluster, rest
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// undrawn takes off what an agent need not draw.
var undrawn = strings.NewReplacer("\u202e", "", "\u200b", "", "\u200d", "", "\u2066", "")

func claudeDialog(c call, cols int) []string {
	rule, dashes := strings.Repeat("─", cols), strings.Repeat("╌", cols)
	by := ""
	if c.by != "" {
		by = " · from the " + c.by + " agent"
	}
	switch c.tool {
	case "Ask":
		labels, explained := c.options()
		rows := []string{rule, " ☐ Data", ""}
		for _, row := range breakRows(undrawn.Replace(c.command), cols-6) {
			rows = append(rows, row)
		}
		rows = append(rows, "")
		for i, label := range labels {
			mark := "  "
			if i == 0 {
				mark = "❯ "
			}
			mark += fmt.Sprintf("%d. ", i+1)
			for _, row := range append(breakRows(label, cols-8), breakRows(explained[i], cols-8)...) {
				rows, mark = append(rows, mark+row), "     "
			}
		}
		return append(rows, fmt.Sprintf("  %d. Type something.", len(labels)+1), rule, fmt.Sprintf("  %d. Chat about this", len(labels)+2), "", "Enter to select · ↑/↓ to navigate", "Esc to cancel")
	case "Form":
		rows := []string{rule, "  MCP server “lab” requests your input", ""}
		for _, row := range breakRows(undrawn.Replace(c.command), cols-6) {
			rows = append(rows, "  "+row)
		}
		return append(rows, "", "  ❯   "+c.about+": Type something…", "", "    Accept    Decline", "", "  Esc to cancel · ↑/↓ to navigate")
	}
	if c.tool == "Write" {
		rows := []string{rule, " Create file" + by, " " + c.about, dashes}
		for i, line := range strings.Split(c.command, "\n") {
			for k, row := range breakRows(undrawn.Replace(line), cols-4) {
				number := fmt.Sprintf("  %d ", i+1)
				if k > 0 {
					number = "    "
				}
				rows = append(rows, number+row)
			}
		}
		return append(rows, dashes, " Do you want to create "+path.Base(c.about)+"?", " ❯ 1. Yes", "   2. Yes, allow all edits during this session (shift+tab)", "   3. No", "", " Esc to cancel · Tab to amend")
	}
	rows := []string{rule, " Bash command" + by, ""}
	for _, row := range breakRows(undrawn.Replace(c.command), cols-6) {
		rows = append(rows, "   "+row)
	}
	for _, row := range breakRows(c.about, cols-6) {
		rows = append(rows, "   \x1b[38;5;246m"+row+"\x1b[39m")
	}
	return append(rows, "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend")
}

// newClaudeDialog: newer versions frame the command, and long lines have a bar.
func newClaudeDialog(c call, cols int) []string {
	if c.tool != "Bash" {
		return claudeDialog(c, cols)
	}
	by := ""
	if c.by != "" {
		by = " · from the " + c.by + " agent"
	}
	rows := []string{strings.Repeat("─", cols), " Bash command" + by}
	for _, row := range breakRows(c.about, cols-2) {
		rows = append(rows, " "+row)
	}
	rows = append(rows, strings.Repeat("╌", cols))
	for _, line := range strings.Split(undrawn.Replace(c.command), "\n") {
		broken := breakRows(line, cols-4)
		for _, row := range broken {
			if terminal.StringWidth(line) > 80 {
				row = "│ " + row
			}
			rows = append(rows, " "+row)
		}
	}
	return append(rows, strings.Repeat("╌", cols), " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend")
}

func codexDialog(c call, cols int) []string {
	rows := []string{"• Running it", "", ""}
	if c.tool == "Ask" {
		labels, explained := c.options()
		rows = append(rows, "  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m")
		for _, row := range breakRows(undrawn.Replace(c.command), cols-4) {
			rows = append(rows, "  "+row)
		}
		rows = append(rows, "")
		for i, label := range append(labels, "None of the above") {
			mark := "    "
			if i == 0 {
				mark = "  › "
			}
			row := fmt.Sprintf("%s%d. ", mark, i+1)
			broken := breakRows(label, min(cols-9, 40))
			for _, part := range broken[:len(broken)-1] {
				rows, row = append(rows, strings.TrimRight(row+part, " ")), strings.Repeat(" ", 7)
			}
			row += fmt.Sprintf("%-18s", broken[len(broken)-1])
			if i < len(explained) {
				for _, more := range breakRows(explained[i], cols-27) {
					rows, row = append(rows, strings.TrimRight(row+" "+more, " ")), strings.Repeat(" ", 25)
				}
				continue
			}
			rows = append(rows, row)
		}
		return append(rows, "", "  tab to add notes | enter to submit answer", "  esc to interrupt")
	}
	if c.tool == "Write" {
		for _, row := range breakRows("Would you like to make the following edits?", cols-4) {
			rows = append(rows, "  \x1b[1m"+row+"\x1b[22m")
		}
		return append(rows, "", "  Description: Apply proposed file edits", "  Destination: "+c.about, "", "",
			"› 1. Yes, proceed (y)", "  2. No, and tell Codex what to do differently (esc)", "", "  Press enter to confirm or esc to cancel")
	}
	for _, row := range breakRows("Would you like to run the following command?", cols-4) {
		rows = append(rows, "  \x1b[1m"+row+"\x1b[22m")
	}
	rows = append(rows, "", "  Environment: local", "")
	for _, row := range append(breakRows("Reason: "+c.about, cols-4), "") {
		rows = append(rows, "  "+row)
	}
	for _, row := range breakRows("$ "+undrawn.Replace(c.command), cols-4) {
		rows = append(rows, "  "+row)
	}
	return append(rows, "", "", "› 1. Yes, proceed (y)", "  2. No, and tell Codex what to do differently (esc)", "", "  Press enter to confirm or esc to cancel")
}

func geminiDialog(c call, cols int) []string {
	row := func(text string) string {
		return "│ " + text + strings.Repeat(" ", max(0, cols-4-terminal.StringWidth(text))) + " │"
	}
	rows := []string{"✦ I will do it.", "", "╭" + strings.Repeat("─", cols-2) + "╮"}
	if c.tool == "Ask" {
		labels, explained := c.options()
		rows = append(rows, row("Answer Questions"), row(""))
		for _, part := range breakRows(undrawn.Replace(c.command), cols-6) {
			rows = append(rows, row(part))
		}
		rows = append(rows, row(""))
		for i, label := range append(labels, "Enter a custom value") {
			mark := "  "
			if i == 0 {
				mark = "● "
			}
			rows = append(rows, row(fmt.Sprintf("%s%d.  %s", mark, i+1, label)))
			if i < len(explained) {
				rows = append(rows, row("      "+explained[i]))
			}
		}
		return append(rows, row(""), row("Enter to select · Esc to cancel"), "╰"+strings.Repeat("─", cols-2)+"╯")
	}
	if c.tool == "Write" {
		rows = append(rows, row("? WriteFile  Writing to "+path.Base(c.about)), row(""))
		for i, line := range strings.Split(c.command, "\n") {
			for _, part := range breakRows(line, cols-10) {
				rows = append(rows, row(fmt.Sprintf("%d + %s", i+1, part)))
			}
		}
		rows = append(rows, row(""), row("Apply this change?"))
	} else {
		head, _, _ := strings.Cut(c.command, "\n")
		if r := []rune(head); len(r) > cols/2 {
			head = string(r[:cols/2]) + "…"
		}
		rows = append(rows, row("? Shell  "+undrawn.Replace(head)), row("╭"+strings.Repeat("─", cols-6)+"╮"))
		for _, part := range breakRows(undrawn.Replace(c.command), cols-8) {
			rows = append(rows, row("│ "+part+strings.Repeat(" ", max(0, cols-8-terminal.StringWidth(part)))+" │"))
		}
		rows = append(rows, row("╰"+strings.Repeat("─", cols-6)+"╯"), row("Allow execution of [Shell]?"))
	}
	return append(rows, row(""), row("● 1. Allow once"), row("  2. No, suggest changes (esc)"), "╰"+strings.Repeat("─", cols-2)+"╯")
}

func payload(fields map[string]any) string {
	out, err := json.Marshal(fields)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(out)
}

func claudeHook(event string, c call) []string {
	input := map[string]any{"command": c.command, "description": c.about}
	if c.tool == "Write" {
		input = map[string]any{"file_path": path.Join("/work", c.about), "content": c.command}
	}
	f := map[string]any{"session_id": "s", "hook_event_name": event, "prompt_id": "t", "tool_name": c.tool, "tool_input": input}
	switch {
	case c.tool == "Ask":
		f["tool_name"], f["tool_input"] = "AskUserQuestion", questions(c)
	case c.tool == "Form" && event == "PermissionRequest":
		return []string{payload(map[string]any{"session_id": "s", "hook_event_name": "Elicitation", "prompt_id": "t", "mcp_server_name": "lab", "message": c.command,
			"requested_schema": map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string", "title": c.about}}}})}
	case c.tool == "Form" && event == "PostToolUse":
		return []string{payload(map[string]any{"session_id": "s", "hook_event_name": "ElicitationResult", "prompt_id": "t", "mcp_server_name": "lab", "action": "accept"})}
	}
	if c.by != "" {
		f["agent_id"], f["agent_type"] = "sub", c.by
	}
	return []string{payload(f)}
}

// questions is the input of a question, in the format of the agents' tools.
func questions(c call) map[string]any {
	labels, explained := c.options()
	var options []map[string]any
	for i, label := range labels {
		options = append(options, map[string]any{"label": label, "description": explained[i]})
	}
	return map[string]any{"questions": []any{map[string]any{"question": c.command, "header": "Data", "options": options}}}
}

func codexHook(event string, c call) []string {
	if c.tool == "Ask" {
		if event == "PermissionRequest" { // Codex calls no PermissionRequest hook for questions
			event = "PreToolUse"
		}
		return []string{payload(map[string]any{"session_id": "s", "hook_event_name": event, "turn_id": "t", "tool_name": "request_user_input", "tool_use_id": "c" + c.String(), "tool_input": questions(c)})}
	}
	f := map[string]any{"session_id": "s", "hook_event_name": event, "turn_id": "t", "tool_name": "Bash", "tool_input": map[string]any{"command": c.command, "description": c.about}}
	if c.tool == "Write" {
		f["tool_name"], f["tool_input"] = "apply_patch", map[string]any{"command": "*** Begin Patch\n*** Add File: " + path.Join("/work", c.about) + "\n+" + c.command}
	}
	return []string{payload(f)}
}

func geminiHook(event string, c call) []string {
	tool, input := "run_shell_command", map[string]any{"command": c.command}
	details := map[string]any{"type": "exec", "title": "Confirm Shell Command", "command": c.command}
	if c.tool == "Write" {
		tool, input = "write_file", map[string]any{"file_path": path.Join("/work", c.about), "content": c.command}
		details = map[string]any{"type": "edit", "title": "Confirm Write: " + c.about, "filePath": path.Join("/work", c.about), "fileDiff": "+" + c.command}
	}
	if c.tool == "Ask" {
		tool, input = "ask_user", questions(c)
		details = map[string]any{"type": "ask_user", "title": "Answer Questions"}
	}
	about := func(name string) string {
		return payload(map[string]any{"session_id": "s", "hook_event_name": name, "tool_name": tool, "tool_input": input})
	}
	switch event {
	case "PermissionRequest":
		return []string{about("BeforeTool"), payload(map[string]any{"session_id": "s", "hook_event_name": "Notification", "notification_type": "ToolPermission", "details": details})}
	case "PostToolUse":
		return []string{about("AfterTool")}
	}
	return []string{payload(map[string]any{"session_id": "s", "hook_event_name": "BeforeAgent", "prompt": "go"})}
}
