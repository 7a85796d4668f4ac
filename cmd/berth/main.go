// Command berth is a server that hosts terminals for AI coding agents, and the client of that
// server on the same machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // agents name time zones, and an image may have no list of them

	"berth/commands/shape"
	"berth/sessions/hold"
)

func main() {
	// Holders and hooks run in berth-hold, which starts faster and is smaller. A server of an older
	// release calls this program for them.
	if len(os.Args) > 1 && (os.Args[1] == "hold" || os.Args[1] == "hook") {
		os.Exit(becomeHolder(os.Args))
	}
	if len(os.Args) > 1 && os.Args[1] == shape.Argument { // a process of the server
		os.Exit(shape.Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		hold.SlackTimers()
	}
	os.Exit(run(os.Args[1:]))
}

// run performs what the arguments ask for and returns the exit status.
func run(args []string) int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	if len(args) > 0 && args[0] == "serve" { // which reads its files again at SIGHUP
		ends = ends[:2]
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	root := rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintln(os.Stderr, "berth:", err)
	return 2
}

// exitStatus ends the program with a status after all output was written.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("status %d", int(s)) }
