//go:build agents

package opencode

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	driver "berth/agent"
	"berth/agent/opencode"
	"berth/test/agents/testbed"
)

// hookProgram takes the place of berth-hold. It keeps each report in a file, answers the first one that asks at a
// turn's end with the text of a gate, is ended as often as the file dies says before it keeps anything, and keeps the
// start of a turn only when the file held is gone.
const hookProgram = `#!/bin/sh
cd "$(dirname "$0")"
left=$(cat dies 2>/dev/null || echo 0)
if [ "$left" -gt 0 ]; then echo $((left - 1)) > dies; kill -9 $$; fi
for event; do :; done
while [ "$event" = turn ] && [ -e held ]; do sleep 0.01; done
cat >> reports
echo >> reports
if [ "$2" = --ask ] && [ "$event" = idle ] && [ -e gate ]; then rm gate; echo '{"decision":"block","reason":"go on"}'; fi
`

// pluginScript is opencode as the plugin sees it: one conversation, whose first message is hello.
const pluginScript = `
import { rmSync } from "node:fs"
import { Berth } from "./berth.js"
const id = "ses_1"
let taken = () => {}
const client = { session: { get: async () => ({ data: { id } }) }, _client: { post: async (o) => taken(o) } }
const plugin = await Berth({ client, directory: import.meta.dirname + "/ws" })
const emit = (type, properties) => plugin.event?.({ event: { type, properties: { sessionID: id, ...properties } } })
const says = (text, message) => plugin["chat.message"]?.({ sessionID: id }, { message: { id: message }, parts: [{ type: "text", text }] })
const first = says("hello", "msg_1")
`

// TestPlugin runs the plugin in opencode's own runtime, with a hook program that fails.
func TestPlugin(t *testing.T) {
	const ends = "await first\nemit('session.idle')\n"
	const calls = `await first
const before = (command) => plugin["tool.execute.before"]({ tool: "bash", sessionID: id, callID: "bash:0" }, { args: { command } })
const asks = (id) => emit("permission.asked", { id, permission: "bash", tool: { callID: "bash:0" } })
const code = (tool, callID, command) => plugin["tool.execute.before"]({ tool, sessionID: id, callID }, { args: { command } })
const runs = () => emit("permission.asked", { id: "per_1", permission: "lab_run", tool: { callID: "c" } })
const ends = (command) => emit("message.part.updated", { part: { type: "tool", sessionID: id, callID: "bash:0", tool: "bash", state: { status: "completed", input: { command } } } })
`
	for name, c := range map[string]struct {
		files  map[string]string
		script string
		want   string // the events in order; an error or a command after a colon
	}{
		"a turn": {nil, ends, "conversation turn idle"},
		"a gate": {map[string]string{"gate": ""}, ends + `taken = (o) => { says(o.body.parts[0].text, "msg_2").then(() => emit("session.idle")); return { response: { ok: true } } }`,
			"conversation turn idle gated idle"},
		"a gate whose text opencode refuses":          {map[string]string{"gate": ""}, ends + `taken = () => ({ response: { ok: false, status: 400 } })`, "conversation turn idle idle"},
		"a gate whose text doesn't get to opencode":   {map[string]string{"gate": ""}, ends + `taken = () => { throw new Error("refused") }`, "conversation turn idle idle"},
		"a gate whose turn fails before it begins":    {map[string]string{"gate": ""}, ends + `taken = () => { emit("session.error", { error: { name: "APIError", data: {} } }); emit("session.idle"); return { response: { ok: true } } }`, "conversation turn idle idle:APIError"},
		"hooks that are ended twice before they tell": {map[string]string{"dies": "2"}, ends, "conversation turn idle"},
		"hooks that are ended always":                 {map[string]string{"dies": "9"}, ends, ""},
		"two subagents with calls of one id": {nil, `await first
const calls = async (sessionID, command) => {
  emit("session.created", { info: { id: sessionID, parentID: id, agent: "general" } })
  await plugin["tool.execute.before"]({ tool: "bash", sessionID, callID: "bash:0" }, { args: { command } })
}
await calls("ses_2", "one")
await calls("ses_3", "two")
emit("message.part.updated", { part: { type: "tool", sessionID: "ses_3", callID: "bash:0", tool: "bash", state: { status: "completed", input: { command: "two" } } } })
emit("permission.asked", { sessionID: "ses_2", id: "per_1", permission: "bash", tool: { callID: "bash:0" } })`,
			"conversation turn tool.before:one tool.before:two tool.after:two permission.asked:one"},
		"two calls of one id": {nil, calls + `await Promise.all([before("one"), before("two")])
asks("per_1")`, "conversation turn tool.before:one tool.before:two permission.asked:one|two:bash:0_per_1"},
		"and one is over": {nil, calls + `await Promise.all([before("one"), before("two")])
ends("two")
asks("per_1")`, "conversation turn tool.before:one tool.before:two permission.asked:one|two:bash:0_per_1"},
		"and both are over": {nil, calls + `await Promise.all([before("one"), before("two")])
ends("two")
ends("one")
ends("one")`, "conversation turn tool.before:one tool.before:two tool.after:one"},
		"a call with the id of the step before": {nil, calls + `await before("one")
ends("one")
emit("message.updated", { info: { sessionID: id, id: "msg_2", role: "assistant", time: {} } })
await before("two")
emit("message.updated", { info: { sessionID: id, id: "msg_2", role: "assistant", time: {} } })
asks("per_1")`, "conversation turn tool.before:one tool.after:one tool.before:two permission.asked:two"},
		"a call while thousands of reports wait": {map[string]string{"held": ""}, `for (let i = 0; i < 2100; i++) emit("session.updated", { info: { id } })
` + strings.Replace(calls, "await first", "", 1) + `const began = before("one")
rmSync(new URL("./held", import.meta.url))
await began
asks("per_1")`, "conversation turn permission.asked:one"},
		"a call that code makes": {nil, calls + `await code("execute", "c", "code")
await code("lab_run", "c/1", "one")
runs()`, "conversation turn tool.before:code tool.before:one permission.asked:one"},
		"two calls that code makes": {nil, calls + `await code("execute", "c", "code")
await Promise.all([code("lab_run", "c/1", "one"), code("lab_run", "c/2", "two")])
runs()`, "conversation turn tool.before:code tool.before:one tool.before:two permission.asked:one|two:c_per_1"},
		"and one is over already": {nil, calls + `await code("execute", "c", "code")
await code("lab_run", "c/1", "one")
await plugin["tool.execute.after"]({ tool: "lab_run", sessionID: id, callID: "c/1" }, {})
await code("lab_run", "c/2", "two")
runs()`, "conversation turn tool.before:code tool.before:one tool.before:two permission.asked:two"},
		"a call that code makes and that isn't reported": {nil, calls + `await code("execute", "c", "code")
runs()`, "conversation turn tool.before:code permission.asked"},
		"a call with a long text": {nil, calls + `await plugin["tool.execute.before"]({ tool: "bash", sessionID: id, callID: "bash:0" }, { args: { command: "one", junk: "x".repeat(5 << 20) } })
asks("per_1")`, "conversation turn tool.before:one(cut) permission.asked:one(cut)"},
		"a call with many texts": {nil, calls + `await plugin["tool.execute.before"]({ tool: "bash", sessionID: id, callID: "bash:0" }, { args: { command: "one", junk: Array(1 << 20).fill("xxxx") } })
asks("per_1")`, "conversation turn tool.before(cut) permission.asked(cut)"},
		"a change through links": {nil, `await first
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
const at = import.meta.dirname
mkdirSync(at + "/real")
mkdirSync(at + "/other")
writeFileSync(at + "/real/plain", "")
symlinkSync(at + "/real", at + "/ws")
for (const [name, target] of [["there", "plain"], ["gone", "../other/new"], ["folder", at + "/other"], ["loop", "loop"]]) symlinkSync(target, at + "/real/" + name)
const files = ["plain", "new", "there", "gone", "folder/x/y", "loop"].map((name) => ({ filePath: at + "/ws/" + name }))
emit("permission.asked", { id: "per_1", permission: "edit", metadata: { files: [...files, { filePath: at + "/ws/plain", movePath: at + "/ws/there" }] } })`,
			"conversation turn permission.asked>real/plain>other/new>other/x/y>real/plain"},
		"a folder that is gone": {nil, "rmSync(new URL('./run', import.meta.url), { recursive: true })\n" + ends, "conversation turn idle"},
		"thousands of parts while a report hangs": {map[string]string{"held": ""}, `for (let i = 0; i < 5000; i++) emit("message.part.updated", { part: { type: "text", text: "x", sessionID: id } })
emit("session.idle")
rmSync(new URL("./held", import.meta.url))`, "conversation turn idle"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put := func(name, text string) {
				testbed.Check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
			}
			hook := filepath.Join(dir, "hook")
			put("hook", hookProgram)
			put("asks", "")
			put("script.mjs", pluginScript+c.script)
			for name, text := range c.files {
				put(name, text)
			}
			l, err := opencode.Driver{}.Launch(driver.Start{
				Argv: []string{"opencode"}, Isolate: driver.IsolateHooks, Folder: filepath.Join(dir, "run"), Hook: hook, EndAsks: filepath.Join(dir, "asks"), StartAsks: filepath.Join(dir, "asks"),
			})
			testbed.Check(t, err)
			for _, folder := range l.Folders {
				testbed.Check(t, os.MkdirAll(folder, 0o700))
			}
			for name, data := range l.Files {
				put(filepath.Base(name), string(data))
			}
			cmd := exec.CommandContext(t.Context(), programs.Agent, "run", filepath.Join(dir, "script.mjs"))
			cmd.Env = append(os.Environ(), "BUN_BE_BUN=1", "HOME="+dir, "BERTH_HOOK_SOCKET=here")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := reported(t, filepath.Join(dir, "reports")); got != c.want {
				t.Errorf("it reported %s, want %s", got, c.want)
			}
		})
	}
}

// reported are the events that the hook program kept.
func reported(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var all []string
	for line := range bytes.Lines(data) {
		var r struct {
			Event string
			Error *struct{ Name string }
			Call  string
			Cut   bool
			Links []struct{ Target string }
			Input struct {
				Command string
				OneOf   []struct{ Input struct{ Command string } } `json:"one of these calls"`
			}
		}
		testbed.Check(t, json.Unmarshal(line, &r))
		for _, l := range r.Links {
			_, target, _ := strings.Cut(l.Target, filepath.Base(filepath.Dir(file))+"/")
			r.Event += ">" + target
		}
		if r.Error != nil {
			r.Event += ":" + r.Error.Name
		}
		if r.Input.Command != "" {
			r.Event += ":" + r.Input.Command
		}
		for i, one := range r.Input.OneOf {
			r.Event += string(":|"[min(i, 1)]) + one.Input.Command
		}
		if r.Cut {
			r.Event += "(cut)"
		}
		if len(r.Input.OneOf) > 0 {
			r.Event += ":" + strings.ReplaceAll(r.Call, " ", "_")
		}
		all = append(all, r.Event)
	}
	return strings.Join(all, " ")
}
