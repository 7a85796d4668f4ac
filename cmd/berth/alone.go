package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/commands"
	"berth/keys"
	"berth/sshd/local"
)

// runAlone runs a verb that needs no server, such as help, when none is running.
func runAlone(ctx context.Context, argv []string) (status int, ok bool) {
	verb := commands.Lookup(argv[0])
	if verb == nil || !verb.Alone {
		return 0, false
	}
	service := &commands.Service{Version: version(), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	line, err := json.Marshal(argv)
	if err != nil {
		return 0, false
	}
	return service.Run(ctx, commands.Request{
		Identity: func() keys.Identity { return keys.Identity{Kind: keys.KindLocal, Role: keys.Admin} },
		Line:     string(line), In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	}), true
}

// completionTime bounds how long a completion waits for the server, which a person waits for too.
const completionTime = 2 * time.Second

// completeVerb completes a verb's options, and the names of sessions from the server if one runs.
func completeVerb(verb *commands.Verb) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if strings.HasPrefix(word, "-") {
			var list []string
			verb.Options().VisitAll(func(f *pflag.Flag) {
				if strings.HasPrefix("--"+f.Name, word) {
					list = append(list, "--"+f.Name+"\t"+f.Usage)
				}
			})
			return list, cobra.ShellCompDirectiveNoFileComp
		}
		switch first := verb.Synopsis; {
		case verb.Name == "help" || verb.Name == "schema":
			return commands.Names(), cobra.ShellCompDirectiveNoFileComp
		case strings.HasPrefix(first, "S") || strings.HasPrefix(first, "TARGET") || strings.HasPrefix(first, "[S") || strings.HasPrefix(first, "[TARGET"):
			return sessionNames(cmd.Context()), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
}

func sessionNames(ctx context.Context) []string {
	socket, err := localSocket()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	var names strings.Builder
	if _, err := local.Run(ctx, socket, []string{"ls", "-q"}, strings.NewReader(""), &names, io.Discard, false); err != nil {
		return nil // there is no one to report it to
	}
	return strings.Fields(names.String())
}
