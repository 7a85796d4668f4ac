// Package layout checks the tree against its map (which package may import which), and its prose against
// docs/writing.md.
package layout

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// arrows are the allowed imports within the tree, without tests: a package imports these and no
// others. docs/architecture.md draws them. A new arrow is a decision, so it is added by hand.
var arrows = map[string]string{
	// Types that all others use.
	"api": "",
	// Reads and writes between a key and its echo.
	"rawio": "",

	// The terminal: it depends on no other group.
	"terminal":          "",
	"terminal/keyboard": "terminal",
	"terminal/paint":    "terminal",

	// Agents: the shared types, and what drivers share. Only agent/drivers imports a driver; the test
	// adds the arrows of both. The generic driver has arrows of its own, because it has rules.
	"agent":               "agent/pattern api",
	"agent/pattern":       "",
	"agent/drawn":         "agent terminal",
	"agent/compose":       "agent agent/pattern",
	"agent/hooks":         "agent agent/userfiles",
	"agent/userfiles":     "agent/pattern",
	"agent/forks":         "agent agent/hooks agent/pattern agent/userfiles",
	"agent/generic/rules": "agent api terminal",
	"agent/generic":       "agent agent/compose agent/generic/rules terminal",

	// What agents ask and say, laid out for people.
	"render": "agent terminal",

	// Reports of sources become states.
	"detect":        "agent api terminal",
	"detect/tail":   "",
	"detect/watch":  "",
	"detect/replay": "agent detect terminal",

	// Rights, and the audit log.
	"keys":         "api",
	"audit":        "api terminal",
	"audit/follow": "audit sessions/events",
	"audit/ship":   "",
	"config":       "agent agent/drivers agent/generic/rules api keys sessions/account sessions/gates/begin sessions/gates/gate sessions/hold sessions/notify terminal",

	// Sessions.
	"doctor":                    "agent agent/drivers api config keys sessions/hold",
	"sessions/hold":             "api rawio",
	"sessions/events":           "api",
	"sessions/lease":            "",
	"sessions/deliver":          "agent api",
	"sessions/groom":            "",
	"sessions/account":          "",
	"sessions/cgroup":           "sessions/hold",
	"sessions/command":          "",
	"sessions/worktree":         "",
	"sessions/gates/begin":      "",
	"sessions/gates/gate":       "",
	"sessions/gates/transcript": "api detect/tail",
	"sessions/notify":           "",
	"sessions/notify/post":      "agent api sessions sessions/command sessions/events sessions/notify terminal",
	"sessions/loop":             "agent api detect keys sessions/deliver sessions/events sessions/hold sessions/lease sessions/screen terminal",
	"sessions/outbox":           "agent api keys sessions/deliver sessions/events sessions/hold sessions/lease sessions/loop",
	"sessions/mail":             "agent api keys sessions/events sessions/hold sessions/loop terminal",
	"sessions/prompts":          "agent api detect keys sessions/events sessions/groom sessions/hold sessions/loop terminal",
	"sessions/process":          "",
	"sessions/screen":           "terminal",
	"sessions/life":             "agent api sessions/events sessions/hold sessions/loop",
	"sessions/track":            "agent api detect detect/tail detect/watch sessions/deliver sessions/events sessions/hold sessions/loop sessions/process terminal",
	"sessions/gates":            "agent api detect sessions/events sessions/gates/begin sessions/gates/gate sessions/gates/transcript sessions/hold sessions/loop",
	"sessions/clients":          "api sessions/events sessions/hold sessions/lease sessions/loop terminal terminal/keyboard",
	"sessions":                  "agent api detect detect/tail detect/watch keys sessions/account sessions/cgroup sessions/clients sessions/command sessions/deliver sessions/events sessions/gates sessions/gates/begin sessions/gates/gate sessions/gates/transcript sessions/hold sessions/lease sessions/life sessions/loop sessions/mail sessions/notify sessions/outbox sessions/process sessions/prompts sessions/screen sessions/track sessions/worktree terminal",

	"metrics": "agent audit audit/ship sessions sessions/deliver sessions/events sshd",

	// The edge.
	"attach":         "terminal terminal/keyboard terminal/paint",
	"commands/words": "",
	"commands/shape": "api",
	"commands":       "agent api audit audit/ship commands/shape commands/words detect/replay doctor fleet/registry keys render sessions sessions/events sessions/gates/begin sessions/gates/gate sessions/gates/transcript sessions/worktree terminal",
	"tui":            "agent api commands/words render sessions sessions/events terminal terminal/keyboard terminal/paint",
	"acp":            "agent api commands keys sessions sessions/gates/transcript",
	"mcp":            "agent api commands keys",
	"mcp/bridge":     "",
	"sshd":           "api commands/words keys rawio sessions/hold",
	"sshd/files":     "api commands",
	"sshd/local":     "rawio",
	"sshd/dispatch":  "acp api attach commands fleet/relay keys mcp sessions sessions/clients sessions/events sessions/lease sessions/loop sshd sshd/files terminal tui",

	// The fleet.
	"fleet/conn":     "api",
	"fleet/invite":   "",
	"fleet/realm":    "",
	"fleet/broker":   "fleet/realm",
	"fleet/join":     "fleet/conn fleet/invite fleet/realm",
	"fleet/registry": "api",
	"fleet/relay":    "fleet/join keys sshd",
	"fleet/ledger":   "api fleet/registry sessions/events",
	"fleet/gateway":  "api fleet/conn fleet/invite fleet/join fleet/ledger fleet/realm fleet/registry fleet/relay keys",
	"fleet/member":   "agent api fleet/conn fleet/invite fleet/join fleet/ledger fleet/registry keys sshd",

	// Programs.
	"cmd/berth-hold":       "sessions/hold",
	"cmd/berth-fleet":      "fleet/broker fleet/realm",
	"cmd/berth/background": "",
	"cmd/berth":            "agent agent/drivers agent/generic agent/generic/rules api audit audit/follow audit/ship cmd/berth/background commands commands/shape config detect/replay doctor fleet/gateway fleet/invite fleet/join fleet/ledger fleet/member fleet/realm fleet/registry fleet/relay keys mcp mcp/bridge metrics sessions sessions/account sessions/cgroup sessions/command sessions/hold sessions/notify/post sessions/worktree sshd sshd/dispatch sshd/local terminal",
}

// driverMay is what a driver may import of the tree.
const driverMay = "agent agent/compose agent/drawn agent/forks agent/hooks agent/pattern agent/userfiles terminal"

// addDrivers adds the arrows of agent/drivers, and of the drivers that it imports. So a new driver
// needs no change here.
func addDrivers(imports map[string][]string) {
	ours := slices.DeleteFunc(slices.Clone(imports["agent/drivers"]), func(to string) bool {
		return !strings.HasPrefix(to, "agent/")
	})
	for _, driver := range ours {
		if _, own := arrows[driver]; own {
			continue
		}
		uses := slices.DeleteFunc(strings.Fields(driverMay), func(to string) bool { return !slices.Contains(imports[driver], to) })
		arrows[driver] = strings.Join(uses, " ")
	}
	arrows["agent/drivers"] = "agent " + strings.Join(ours, " ")
}

// TestImportsPointOneWay checks each package's imports against its arrows, and checks that the
// map in docs/architecture.md has each package.
func TestImportsPointOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "berth/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		for i := range words {
			words[i] = strings.TrimPrefix(words[i], "berth/")
		}
		if !strings.HasPrefix(words[0], "test") { // tests may import everything
			imports[words[0]] = words[1:]
		}
	}
	addDrivers(imports)
	for from, imported := range imports {
		drawn, known := arrows[from]
		if !known {
			t.Errorf("%s has no arrows: give it some here, and a line in docs/architecture.md", from)
			continue
		}
		if !strings.Contains(string(page), "`"+from+"`") {
			t.Errorf("%s has no line in docs/architecture.md", from)
		}
		allowed := strings.Fields(drawn)
		imported = slices.DeleteFunc(imported, func(to string) bool { _, ours := arrows[to]; return !ours })
		for _, to := range imported {
			if !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s: no arrow goes there", from, to)
			}
		}
		for _, to := range allowed {
			if !slices.Contains(imported, to) {
				t.Errorf("%s has an arrow to %s and does not import it", from, to)
			}
		}
	}
	for pkg := range arrows {
		if _, there := imports[pkg]; !there {
			t.Errorf("%s has arrows and is not in the tree", pkg)
		}
	}
}

// TestHolderStaysSmall refuses imports of the holder that would cost every
// session memory.
func TestHolderStaysSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "berth/cmd/berth-hold").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dep := range strings.Lines(string(out)) {
		switch dep = strings.TrimSpace(dep); {
		case strings.HasPrefix(dep, "berth/") && dep != "berth/api" && dep != "berth/rawio" && dep != "berth/sessions/hold" && dep != "berth/cmd/berth-hold":
			t.Errorf("the holder imports %s", dep)
		case dep == "net/http", strings.HasPrefix(dep, "golang.org/x/crypto"), strings.HasPrefix(dep, "charm.land/"), strings.HasPrefix(dep, "github.com/spf13"):
			t.Errorf("the holder imports %s", dep)
		}
	}
}
