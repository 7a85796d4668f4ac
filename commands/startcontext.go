package commands

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/commands/words"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/gates/begin"
)

func startContextVerb() *Verb {
	return &Verb{
		Name: "start-context", Group: "keep", Synopsis: "S [SOURCE (TEXT|- | --run ARGV... | --clear)]",
		Short: "give the agent a context when a conversation starts; SOURCE is startup, resume, clear, compact or any; without SOURCE, show it",
		Examples: []Example{
			{"start-context alpha", "show the contexts"},
			{`start-context alpha startup "Read NOTES.md first."`, "a text for each new conversation"},
			{"start-context alpha any --run cat NOTES.md", "the output of a command"},
		},
		Need: keys.Admin, Tail: true, Argv: "run", Lead: 1, Answer: sessions.StartContexts{}, Run: startContext,
		Flags: func(f *pflag.FlagSet) {
			f.Bool("run", false, "use the output of the command that follows as the context; it runs on the server, without a shell")
			f.Bool("clear", false, "remove the context")
		},
	}
}

func startContext(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	if run, _ := c.flags.GetBool("run"); run && len(c.Args) > 1 {
		if err := c.mayOwnCommand(); err != nil {
			return err
		}
	}
	if len(c.Args) > 1 {
		one, err := c.startContext()
		if err != nil {
			return err
		}
		if err := c.may("start-context", keys.Admin, s); err != nil { // as it is after its text was read
			return err
		}
		if err := s.SetStartContext(ctx, c.actor(), begin.Source(c.Args[1]), one); err != nil {
			return err
		}
	}
	now := s.StartContexts()
	return c.answer(now, func(w io.Writer) {
		if len(now.Start) == 0 {
			fmt.Fprintf(w, "%s: no start context\n", now.Session)
		}
		for _, source := range slices.Sorted(maps.Keys(now.Start)) {
			one := now.Start[source]
			if one.Run != nil {
				fmt.Fprintf(w, "%s, %s: output of: %s\n", now.Session, source, strings.Join(one.Run, " "))
				continue
			}
			fmt.Fprintf(w, "%s, %s:\n%s\n", now.Session, source, one.Text)
		}
	})
}

// startContext reads the new start context; nil removes it.
func (c *Call) startContext() (*begin.Context, error) {
	run, _ := c.flags.GetBool("run")
	clear, _ := c.flags.GetBool("clear")
	switch {
	case run && clear || clear && c.HasTail:
		return nil, Lookup("start-context").usage(fmt.Errorf("--clear takes no text and no --run"))
	case clear:
		return nil, nil
	case run:
		argv, err := c.argvAfter("--run")
		return &begin.Context{Run: argv}, err
	}
	text, err := c.message()
	return &begin.Context{Text: text}, err
}

// argvAfter are the words after an option, and after a -- that may follow it. On the host they
// are the caller's argv.
func (c *Call) argvAfter(option string) ([]string, error) {
	list, err := words.Words(c.Line)
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "%s: %w", c.verbName(), err)
	}
	at := slices.Index(list, option)
	if source := slices.Index(list, c.Args[1]); at < source { // --run SOURCE ARGV
		at = source
	}
	argv := list[at+1:]
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	return argv, nil
}
