package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"berth/api"
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
	service := &commands.Service{Now: time.Now, Log: slog.New(slog.DiscardHandler)}
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

// completeVerb completes a verb's words as the dashboard does, with the names of the sessions from the server
// if one runs. Where nothing is known of a word, such as a folder's, the shell completes it.
func completeVerb(name string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		argv := commands.Expand(append([]string{name}, args...))
		for i, arg := range argv {
			argv[i] = strings.Join(strings.Fields(arg), "_") // a value stays one word
		}
		start := strings.Join(argv, " ") + " "
		names, tags := completed(cmd.Context())
		from, found := commands.Complete(start+word, commands.Known{
			May: func(string) bool { return true }, Names: names, Tags: tags, Profiles: func() []string { return nil },
		})
		verb := commands.Lookup(argv[0])
		if len(found) == 0 && !verb.TakesSession() {
			return nil, cobra.ShellCompDirectiveDefault
		}
		options := verb.Options()
		for i, one := range found {
			found[i] = word[:from-len(start)] + one
			if f := options.Lookup(strings.TrimPrefix(one, "--")); f != nil && strings.HasPrefix(one, "--") {
				found[i] += "\t" + f.Usage
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// completed are the names and the tags of the sessions. The server is asked once, when a word may be one.
func completed(ctx context.Context) (names, tags func() []string) {
	rows := sync.OnceValue(func() (list []api.Session) {
		socket, err := localSocket()
		if err != nil {
			return nil // there is no one to report it to
		}
		ctx, cancel := context.WithTimeout(ctx, completionTime)
		defer cancel()
		var out bytes.Buffer
		if _, err := local.Run(ctx, socket, []string{"ls", "--json"}, strings.NewReader(""), &out, io.Discard, false); err == nil {
			_ = json.Unmarshal(out.Bytes(), &list) // without an answer there are none
		}
		return list
	})
	names = func() (list []string) {
		for _, s := range rows() {
			list = append(list, s.Session)
		}
		return list
	}
	tags = func() (list []string) {
		for _, s := range rows() {
			for _, t := range s.Tags {
				list = append(list, "tag:"+t)
			}
		}
		return list
	}
	return names, tags
}
