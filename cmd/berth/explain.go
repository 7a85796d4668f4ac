package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect/replay"
	"berth/terminal"
)

// drivers are the agents that Berth knows.
var drivers = map[string]agent.Driver{claude.Name: claude.Driver{}}

// explainCommand replays a recording when a file is named; without one it is
// the server's verb of the same name.
func explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain --file NAME.cast --agent AGENT [--json]",
		Short: "replay a recording through detection and print a transition a line",
		Long: "explain replays NAME.cast (asciicast 2) with NAME.hooks.jsonl, NAME.log.jsonl and\n" +
			"NAME.sessions-dir.json, where they are beside it, on the recording's own clock.",
		Args: cobra.NoArgs,
	}
	file := cmd.Flags().String("file", "", "the recording")
	name := cmd.Flags().String("agent", claude.Name, "the agent that was recorded")
	asJSON := cmd.Flags().Bool("json", false, "one JSON object a transition")
	without := cmd.Flags().StringSlice("without", nil, "sources to leave out: hook, registry, title, osc, log, screen")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *file == "" {
			return errors.New("name a recording: berth explain --file NAME.cast --agent claude")
		}
		left := map[agent.Source]bool{}
		for _, s := range *without {
			left[agent.Source(s)] = true
		}
		return explainFile(cmd, *file, *name, *asJSON, left)
	}
	return cmd
}

func explainFile(cmd *cobra.Command, file, name string, asJSON bool, without map[agent.Source]bool) error {
	driver, ok := drivers[name]
	if !ok {
		return fmt.Errorf("no driver for the agent %q", name)
	}
	dir, base := filepath.Split(file)
	rec, err := replay.Load(os.DirFS(filepath.Join(dir, ".")), base)
	if err != nil {
		return err
	}
	out := json.NewEncoder(cmd.OutOrStdout())
	out.SetEscapeHTML(false)
	for _, step := range replay.Run(rec, driver, replay.Options{Without: without}) {
		if asJSON {
			if err := out.Encode(step); err != nil {
				return fmt.Errorf("print a transition: %w", err)
			}
			continue
		}
		fmt.Fprintln(cmd.OutOrStdout(), explainLine(step))
	}
	return nil
}

// explainLine is a transition for people.
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
