package e2e

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// exampleFails has the examples that can't do their work on the script's sessions, which are shells
// that ask nothing, and the status that they end with.
var exampleFails = map[string]int{
	// Nothing is asked.
	"prompt alpha": 6, "prompt alpha --full": 6, "respond alpha --prompt ID accept": 6, `respond alpha --prompt ID deny "use pnpm instead"`: 6,
	"respond alpha --prompt ID option 2": 6, "respond alpha --prompt ID answer 1=Red 2=Small,Large": 6,
	// A shell isn't an agent.
	"last alpha": 8, "last alpha --json": 8, `nudge alpha "fix the failing test"`: 8,
	`nudge alpha --wait --timeout 1s "run the tests"`: 8, `nudge alpha --queue "then update the docs"`: 8, `nudge alpha,beta "commit what you have"`: 8,
	`ask alpha --timeout 1s "which test failed?"`: 8, "interrupt alpha": 8, "fork alpha": 8, `fork alpha try2 --prompt "'try it with a map'"`: 8,
	`gate alpha gate "the tests must pass"`: 8, `gate alpha --cap 2 gate "look again"`: 8, `start-context alpha startup "Read NOTES.md first."`: 8,
	"start-context alpha any --run cat NOTES.md": 8, "transcript alpha": 8, "transcript alpha 1 --text": 8, "transcript alpha 1 --raw": 8, "transcript alpha --since 1:10": 8,
	// Claude Code isn't installed; there is no such message or lock; the caller isn't in a session.
	`new api --agent claude --cwd shop --prompt "'fix the failing test'"`: 3, "queue alpha rm q1": 3, "message 42": 3, "unlock alpha --lease 120": 7,
	`report complete "all tests pass"`: 4, `report status "3 of 7 files"`: 4,
	"new api --cwd shop --worktree -- claude": 3, "worktree diff api": 3, "worktree rm api": 3, "worktree rm api --discard": 3,
	"notify test phone": 3,
	// The server is in no fleet.
	"fleet ls": 3, "fleet invite box2": 2, "fleet rm box2": 2, "fleet join TOKEN --max-role viewer": 2, "fleet drain box2": 2,
	"detach alpha --client c12": 3,
	// Nothing is on standard input.
	"new api --config -": 2, "profile set review -": 2, "profile show build": 3, "profile rm review": 3,
	// No agent is installed, which is a warning.
	"doctor": 1,
	// Nothing happens in that second.
	"watch --timeout 1s": 10, "watch --state prompt,error,parked --timeout 1s": 10, "watch alpha --type state_change,prompt --timeout 1s": 10,
	`wait alpha --text '"tests? passed"' --timeout 1s`: 10, "wait alpha --until prompt,error,parked --timeout 1s": 10,
	// There is no first message.
	"wait alpha --queued q0 --timeout 1s": 3,
}

// examples runs each example of each verb as a person would type it, quotes and all, after ssh and
// the address. Those that change what there is are undone before the next one. An example may only
// fail as exampleFails says: never because Berth doesn't understand it.
func examples(ts *testscript.TestScript, _ bool, _ []string) {
	s := stageOf(ts)
	call := func(line string) (out string, status int) {
		ssh := "exec ssh -F " + ts.Getenv("SSH")
		if strings.HasPrefix(line, "attach ") {
			ssh = `printf '\035d' | ` + ssh + " -tt"
		}
		cmd := exec.Command("sh", "-c", ssh+" admin "+line)
		cmd.Env = s.ssh("admin").Env
		s.complete(ts, cmd)
		return s.stdout, s.status
	}
	stand := func() {
		var there []struct{ Session, State string }
		out, _ := call("ls")
		ts.Check(json.Unmarshal([]byte(out), &there))
		for _, name := range []string{"alpha", "beta", "old"} {
			at := slices.IndexFunc(there, func(s struct{ Session, State string }) bool { return s.Session == name })
			if at >= 0 && (there[at].State == "exited") == (name == "old") {
				continue
			}
			if at >= 0 {
				call("rm " + name + " --force")
			}
			argv := map[bool]string{true: "true", false: "sh"}[name == "old"]
			call("new " + name + " --tag " + map[bool]string{true: "done", false: "web"}[name == "old"] + " -- " + argv)
		}
		call("wait old --until exited --timeout 10s")
	}
	out, _ := call("help --json")
	var verbs []struct {
		Name, Group string
		Examples    []struct{ Line, Does string }
	}
	ts.Check(json.Unmarshal([]byte(out), &verbs))
	stand()
	failed := false
	for _, v := range verbs {
		if len(v.Examples) == 0 || len(v.Examples) > 5 {
			ts.Fatalf("%s has %d examples: give it one to five", v.Name, len(v.Examples))
		}
		for _, e := range v.Examples {
			if !strings.HasPrefix(e.Line+" ", v.Name+" ") || e.Does == "" {
				ts.Fatalf("%s: %+v isn't an example of it", v.Name, e)
			}
			out, status := call(e.Line)
			if status != exampleFails[e.Line] {
				ts.Logf("%s: status %d, want %d: %s%s", e.Line, status, exampleFails[e.Line], out, s.stderr)
				failed = true
			}
			if v.Group == "keep" || v.Name == "signal" {
				stand()
			}
		}
	}
	if failed {
		ts.Fatalf("these examples did not do what they say")
	}
}
