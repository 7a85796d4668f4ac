package commands

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"
	"syscall"

	"berth/api"
	"berth/keys"
)

func signalVerb() *Verb {
	return &Verb{
		Name: "signal", Group: "drive", Synopsis: "S INT|TERM|...", Short: "send a signal to the session's foreground program",
		Examples: []Example{
			{"signal alpha INT", "as Ctrl-C sends it"},
			{"signal alpha TERM", "ask the program to end"},
		},
		Need: keys.Operator, MinArgs: 2, MaxArgs: 2, Answer: Delivered{}, Run: signal,
	}
}

// signals are those that make sense for a program at a terminal. KILL and STOP are included: a
// client that may type can press Ctrl-Z.
var signals = map[string]syscall.Signal{
	"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL,
	"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "STOP": syscall.SIGSTOP, "TSTP": syscall.SIGTSTP, "CONT": syscall.SIGCONT,
	"WINCH": syscall.SIGWINCH,
}

func signal(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	sig, ok := signals[strings.TrimPrefix(strings.ToUpper(c.Args[1]), "SIG")]
	if !ok {
		var known []string
		for name := range signals {
			known = append(known, name)
		}
		sort.Strings(known)
		return api.Errorf(api.CodeUsage, "signal: unknown signal %s: give one of %s", api.Quote(c.Args[1]), strings.Join(known, " "))
	}
	if err := s.Signal(ctx, c.claim("signal", keys.Operator, s), sig); err != nil {
		return err
	}
	return c.answer(c.delivered(s, 0), func(w io.Writer) { fmt.Fprintf(w, "sent %s\n", strings.ToUpper(c.Args[1])) })
}
