package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"berth/agent"
	"berth/agent/drivers"
	"berth/agent/generic"
	"berth/agent/generic/rules"
	"berth/api"
	"berth/config"
	"berth/detect/replay"
	"berth/terminal"
)

// driversWith are the agents that Berth knows, and the generic driver with the rules.
func driversWith(ruleset *rules.Ruleset) map[string]agent.Driver {
	all := drivers.ByName()
	all[generic.Name] = generic.Driver{Ruleset: ruleset}
	return all
}

func rulesCommand() *cobra.Command {
	parent := &cobra.Command{Use: "rules", Short: "try the rules of berth.yaml"}
	var file, expect string
	var asJSON bool
	test := &cobra.Command{
		Use: "test RULES RECORDING", Short: "replay a recording with rules, one change of state a line", Args: cobra.ExactArgs(2),
		Long: "Replay a recording (asciicast 2, as export makes it) with the rules of that name, on its own clock,\n" +
			"and print one change of state a line. With --expect the status is 1 unless the states come in\n" +
			"exactly that order.",
		RunE: func(cmd *cobra.Command, args []string) error {
			steps, err := replayRules(file, args[0], args[1])
			if err != nil {
				return err
			}
			for _, step := range steps {
				if err := printStep(cmd, step, asJSON); err != nil {
					return err
				}
			}
			return expected(steps, expect)
		},
	}
	test.Flags().StringVar(&file, "config", "", "berth.yaml to read")
	test.Flags().StringVar(&expect, "expect", "", "states in order, separated by commas: starting,idle,working,idle,exited")
	test.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	parent.AddCommand(test)
	return parent
}

// replayRules replays a recording with the rules of that name.
func replayRules(file, name, recording string) ([]replay.Step, error) {
	c, err := config.Load(config.Source{Path: file, Environ: os.Environ()})
	if err != nil {
		return nil, err
	}
	ruleset, err := rules.Compile(c.Rules, nil)
	if err != nil {
		return nil, err
	}
	if ruleset.Named(name) == nil {
		return nil, fmt.Errorf("%s has no rules %s; it has: %s", cmp.Or(c.File, "the configuration"), api.Quote(name), strings.Join(ruleset.Names(), ", "))
	}
	dir, base := filepath.Split(recording)
	rec, err := replay.Load(os.DirFS(filepath.Join(dir, ".")), base)
	if err != nil {
		return nil, err
	}
	return replay.Run(rec, generic.Driver{Ruleset: ruleset}.ForCommand(nil, name), replay.Options{}), nil
}

// printStep prints a change of state in the form of explain --file.
func printStep(cmd *cobra.Command, step replay.Step, asJSON bool) error {
	if !asJSON {
		fmt.Fprintln(cmd.OutOrStdout(), explainLine(step))
		return nil
	}
	var line bytes.Buffer
	out := json.NewEncoder(&line)
	out.SetEscapeHTML(false)
	if err := out.Encode(step); err != nil {
		return fmt.Errorf("print a transition: %w", err)
	}
	_, err := cmd.OutOrStdout().Write(terminal.EscapeJSON(line.Bytes())) // another person may have made the recording
	return err
}

// expected compares the order of states with the expected one.
func expected(steps []replay.Step, expect string) error {
	if expect == "" {
		return nil
	}
	var want, got []string
	for word := range strings.SplitSeq(expect, ",") {
		word = strings.TrimSpace(word)
		if !slices.Contains(agent.States, agent.State(word)) {
			return fmt.Errorf("--expect: unknown state %s", api.Quote(word))
		}
		want = append(want, word)
	}
	for _, s := range steps {
		got = append(got, string(s.Next))
	}
	if slices.Equal(got, want) {
		return nil
	}
	fmt.Fprintf(os.Stderr, "berth: the states are not as expected\nexpected: %s\nare:      %s\n", strings.Join(want, ","), strings.Join(got, ","))
	return exitStatus(1)
}
