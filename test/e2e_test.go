// Package e2e tests Berth from outside: the real binary, built with the race
// detector, through OpenSSH's own client. Each script of testdata has a server
// of its own, with its own home, state and keys, and leaves nothing running.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// berth is the binary under test.
var berth string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "berth-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the binary:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	berth = filepath.Join(dir, "berth")
	_, _, measured := fleetSize()
	build := exec.Command("go", "build", fmt.Sprint("-race=", !measured), "-buildvcs=false", "-o", dir+"/", "berth/cmd/berth", "berth/cmd/berth-hold", "berth/cmd/berth-fleet")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build berth: %v\n%s", err, out)
		return 1
	}
	// Scripts mostly wait for processes, so more scripts than cores run at once. The caller's -parallel
	// wins.
	if given := flag.Lookup("test.parallel"); given.Value.String() == given.DefValue {
		if err := flag.Set("test.parallel", "6"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

func TestScripts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the scripts look for processes in /proc, and call Linux's setsid and stat")
	}
	for _, program := range []string{"ssh", "sftp", "tmux", "vim", "whiptail", "dialog"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the tests need OpenSSH's client, tmux, vim, whiptail and dialog: %v", err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata", Setup: setUp, Cmds: commands(), Condition: condition, RequireUniqueNames: true,
	})
}

// condition reports whether something is there that a script may need: a library of the system's Python, and
// the right to make OS users.
func condition(what string) (bool, error) {
	switch what {
	case "paramiko", "asyncssh":
		return exec.Command("/usr/bin/python3", "-c", "import "+what).Run() == nil, nil
	case "cgroups", "cgroup-memory", "cgroup-pids", "cgroup-cpu":
		_, controller, _ := strings.Cut(what, "-")
		return mayMakeCgroups(controller), nil
	case "osusers":
		return mayMakeUsers(), nil
	}
	return false, fmt.Errorf("there is no condition %s", what)
}

type command = func(ts *testscript.TestScript, neg bool, args []string)

// commands are the commands of scripts in addition to testscript's:
//
//	serve [K=V]... [flags]      start the server; wait for its address
//	stopserver                  end it as Ctrl-C does
//	killserver                  kill -9
//	KEY [-in FILE] [ssh flags] VERB...   ssh with that key; with ! it must fail
//	gossh KEY [-see TEXT [-signal NAME] -type TEXT]... VERB...   the same with x/crypto's client
//	local [K=V]... [-in FILE] VERB...    berth VERB on the host
//	bg NAME KEY ...             ssh in the background, into NAME.out and NAME.err
//	type NAME TEXT              to a background client; \r and \x1b as in Go
//	fg NAME                     wait for its end; checks then use its stdout, stderr and status
//	within TIME NAME...         the clients end by themselves in that time
//	hangup NAME                 end the client, as a closed terminal window does
//	cgroup VAR                  delegate a cgroup to the servers of the script, which start in it
//	osuser VAR                  make an OS user for the script, with the home $VAR_HOME
//	rmuser NAME                 remove the OS user before the script ends
//	key NAME [OPTIONS]          make a key; with options, list it in authorized_keys
//	unlist NAME                 remove a key's line from authorized_keys
//	status N                    the last call's exit status
//	fails CODE STATUS           it failed with this code and status, as JSON and as text
//	json [-line N] PATH VALUE   a field of the last output; ~REGEXP, len=LENGTH
//	shape [-line N] PATH FIELD=TYPE...   an object has exactly these fields
//	save VAR PATH               a field into a variable
//	decode PATH FILE            a base64 field into a file
//	terminal ...                what a person does and sees: see terminalCommand
//	tour WORDS                  run the ssh line with these words that serve --demo printed
//	cast FILE                   it is asciicast v2
//	tunnel SOCKET               a forwarded socket carries nothing
//	click NAME TEXT             a mouse at a terminal: see click
//	web VAR FILE [ANSWER]...    start an HTTP server: see startWeb
//	prometheus                  start Prometheus; promql QUERY VALUE waits for an answer: see startPrometheus
//	exposed                     the last output has the metrics of docs/metrics.md
//	waitfor ...                 poll until a condition holds: see waitFor
//	mcp NAME ...                a client of the Model Context Protocol: see mcpClient
//	acp NAME ...                a client of the Agent Client Protocol: see acpClient
//	examples                    type each example of help
//	answer FILE VERB...         a file is an answer of that call, as its schema says
//	covered                     every verb was called, and every schema has had an answer
//	snapshot FILE               write the output of ls and the event log
func commands() map[string]command {
	all := map[string]command{
		"serve": serve, "stopserver": stopServer, "killserver": killServer,
		"local": local, "gossh": goClient, "bg": background, "type": typeInto, "fg": foreground, "hangup": hangUp, "within": within,
		"key": addKey, "unlist": unlist, "cgroup": makeCgroup, "osuser": makeUser, "rmuser": removeUser,
		"status": checkStatus, "fails": checkFails, "json": checkJSON, "shape": checkShape,
		"save": save, "decode": decode, "cast": checkCast, "terminal": terminalCommand, "tour": tour, "tunnel": checkTunnel, "waitfor": waitFor, "examples": examples, "answer": answerIn, "covered": checkCovered, "snapshot": snapshot, "web": startWeb, "prometheus": startPrometheus, "promql": askPrometheus, "exposed": checkExposed, "click": click,
		"mcp": mcpClient, "acp": acpClient,
	}
	for _, name := range keyNames {
		all[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			callAs(ts, neg, append([]string{name}, args...))
		}
	}
	all["as"] = callAs
	return all
}
