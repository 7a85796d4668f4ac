// Command berth-hold runs one session's program on a terminal (berth-hold hold),
// hands an agent's hook over to it (berth-hold hook), and becomes a command that the
// server runs for a session (berth-hold enter). It outlives the server, and hooks
// hold an agent up: it knows neither agents, screens nor SSH, so that it starts
// within a millisecond and stays small.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"berth/sessions/hold"
)

// revision is set by the Makefile: what git calls the tree that is built.
var revision string

func main() {
	if len(os.Args) > 1 && os.Args[1] == "hook" {
		os.Exit(hold.Hook(os.Args[2:]))
	}
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case "hold":
			os.Exit(hold.Main(os.Stdin))
		case "enter":
			os.Exit(hold.EnterMain())
		case "version":
			if err := json.NewEncoder(os.Stdout).Encode(hold.ThisProgram(revision)); err != nil {
				fmt.Fprintln(os.Stderr, "berth-hold:", err)
				os.Exit(1)
			}
			return
		}
	}
	fmt.Fprintln(os.Stderr, "usage: berth-hold hook ... | version. A berth server runs berth-hold hold.")
	os.Exit(2)
}
