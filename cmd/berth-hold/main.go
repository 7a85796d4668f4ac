// Command berth-hold has three uses. `berth-hold hold` runs one session's program on a terminal
// and outlives the server. `berth-hold hook` passes an agent's hook to the session's holder.
// `berth-hold enter` becomes a command that the server runs for a session. Agents wait for their
// hooks, so this program must start within a millisecond and stay small: it knows nothing of
// agents, screens or SSH.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"berth/sessions/hold"
)

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
		case "ungroup":
			if err := hold.Ungroup(); err != nil {
				fmt.Fprintln(os.Stderr, "berth-hold:", err)
				os.Exit(1)
			}
			return
		case "version":
			if err := json.NewEncoder(os.Stdout).Encode(hold.ThisProgram()); err != nil {
				fmt.Fprintln(os.Stderr, "berth-hold:", err)
				os.Exit(1)
			}
			return
		}
	}
	fmt.Fprintln(os.Stderr, "usage: berth-hold hook ... | version. A berth server runs berth-hold hold.")
	os.Exit(2)
}
