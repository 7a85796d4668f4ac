package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/agent"
	"berth/agent/drivers"
	"berth/commands"
	"berth/detect/replay"
	"berth/terminal"
)

// explainCommand replays a recording when a file is named. Without a file it calls the server's
// verb of the same name.
func explainCommand() *cobra.Command {
	verb := commands.Lookup("explain")
	cmd := &cobra.Command{
		Use:   verb.Usage() + " | --file NAME.cast --agent AGENT [--json]",
		Short: verb.Short,
		Long: "explain S says why a session shows its state. explain --file NAME.cast replays\n" +
			"a recording (asciicast 2) through detection, with NAME.hooks.jsonl, NAME.log.jsonl and\n" +
			"NAME.sessions-dir.json if they are next to it, on the recording's own clock, and prints\n" +
			"one transition a line.",
		DisableFlagParsing: true, // without a file its options are the server's to read
	}
	flags := pflag.NewFlagSet("explain", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	file := flags.String("file", "", "the recording")
	name := flags.String("agent", "claude", "the recorded agent")
	asJSON := flags.Bool("json", false, "one JSON object for each transition")
	without := flags.StringSlice("without", nil, "sources to leave out: hook, registry, title, osc, log, screen")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !namesFile(args) {
			return callServer(cmd, append([]string{"explain"}, args...))
		}
		if err := flags.Parse(args); err != nil {
			return fmt.Errorf("explain: %w", err)
		}
		if flags.NArg() > 0 || *file == "" {
			return errors.New("name one recording: berth explain --file NAME.cast --agent claude")
		}
		left := map[agent.Source]bool{}
		for _, s := range *without {
			left[agent.Source(s)] = true
		}
		return explainFile(cmd, *file, *name, *asJSON, left)
	}
	return cmd
}

func namesFile(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == "--file" || strings.HasPrefix(a, "--file=") })
}

func explainFile(cmd *cobra.Command, file, name string, asJSON bool, without map[agent.Source]bool) error {
	driver, ok := drivers.ByName()[name]
	if !ok {
		return fmt.Errorf("no driver for the agent %q", name)
	}
	dir, base := filepath.Split(file)
	rec, err := replay.Load(os.DirFS(filepath.Join(dir, ".")), base)
	if err != nil {
		return err
	}
	for _, step := range replay.Run(rec, driver, replay.Options{Without: without}) {
		if err := printStep(cmd, step, asJSON); err != nil {
			return err
		}
	}
	return nil
}

// explainLine is a transition as text.
func explainLine(s replay.Step) string {
	line := fmt.Sprintf("%9.3f  %-8s tier %d  %s", s.At.Seconds(), s.Next, s.Tier, s.Cause)
	switch {
	case s.Request != nil:
		line += "  " + string(s.Request.Type)
		for _, part := range []*string{s.Request.Subtype, s.Request.Tool, s.Request.Title, s.Request.Input} {
			if part != nil {
				line += " · " + *part
			}
		}
		line += "  [" + strings.Join(s.Request.Options, " | ") + "]"
	case s.Failure != nil:
		line += "  " + string(s.Failure.Class) + ": " + s.Failure.Text
	case s.Evidence != "":
		line += "  (" + s.Evidence + ")"
	}
	return terminal.Printable(strings.ReplaceAll(line, "\n", " "))
}
