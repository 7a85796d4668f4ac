package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"berth/agent"
	"berth/agent/generic"
	"berth/api"
	"berth/config"
	"berth/detect/replay"
	"berth/rules"
)

// driversWith are the agents that Berth knows, with the rules for all others.
func driversWith(book *rules.Book) map[string]agent.Driver {
	all := maps.Clone(drivers)
	all[generic.Name] = generic.Driver{Book: book}
	return all
}

// rereadEvery is how often berth.yaml is looked at for other rules: a look is
// one call of the system, and who has just written a rule waits for it.
const rereadEvery = time.Second

// rereadRules follows the rules of berth.yaml until it is stopped. Of a file that
// is wrong nothing is taken: the rules stay as they are.
func (s *server) rereadRules(source config.Source) (stop func()) {
	if source.Path == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(rereadEvery)
		defer tick.Stop()
		before, _ := os.ReadFile(source.Path) // what cannot be read is told when it changes
		var seen os.FileInfo
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			info, err := os.Stat(source.Path)
			if err != nil || seen != nil && info.ModTime().Equal(seen.ModTime()) && info.Size() == seen.Size() {
				continue
			}
			seen = info
			if text, err := os.ReadFile(source.Path); err == nil && !bytes.Equal(text, before) {
				before = text
				s.takeRules(ctx, source)
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// takeRules reads the configuration again and goes by its rules.
func (s *server) takeRules(ctx context.Context, source config.Source) {
	c, err := config.Load(source)
	if err != nil {
		s.log.Error("berth.yaml has changed and is wrong: the rules stay as they were", "error", err)
		return
	}
	book, err := rules.Compile(c.Rules, s.book)
	if err == nil {
		s.book = book
		err = s.sessions.SetDrivers(ctx, driversWith(book))
	}
	if err != nil {
		s.log.Error("the rules of berth.yaml could not be taken", "error", err)
		return
	}
	s.log.Info("berth.yaml has changed: its rules hold from now on, the rest at the next start", "rules", book.Names())
}

func rulesCommand() *cobra.Command {
	parent := &cobra.Command{Use: "rules", Short: "try the rules of berth.yaml"}
	var file, expect string
	var asJSON bool
	test := &cobra.Command{
		Use: "test RULES RECORDING", Short: "what rules make of a recording, a change of state a line", Args: cobra.ExactArgs(2),
		Long: "Replay a recording (asciicast 2, as export makes it) by the rules of that name, on its own clock,\n" +
			"and print a change of state a line. With --expect the status is 1 unless the states come in\n" +
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
	test.Flags().StringVar(&expect, "expect", "", "states in their order, divided by commas: starting,idle,working,idle,exited")
	test.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	parent.AddCommand(test)
	return parent
}

// replayRules replays a recording by the rules of that name.
func replayRules(file, name, recording string) ([]replay.Step, error) {
	c, err := config.Load(config.Source{Path: file, Environ: os.Environ()})
	if err != nil {
		return nil, err
	}
	book, err := rules.Compile(c.Rules, nil)
	if err != nil {
		return nil, err
	}
	if book.Named(name) == nil {
		return nil, fmt.Errorf("%s has no rules %s; it has: %s", cmp.Or(c.File, "the configuration"), api.Quote(name), strings.Join(book.Names(), ", "))
	}
	dir, base := filepath.Split(recording)
	rec, err := replay.Load(os.DirFS(filepath.Join(dir, ".")), base)
	if err != nil {
		return nil, err
	}
	return replay.Run(rec, generic.Driver{Book: book}.Fit(nil, name), replay.Options{}), nil
}

// printStep prints a change of state, as explain --file does.
func printStep(cmd *cobra.Command, step replay.Step, asJSON bool) error {
	if !asJSON {
		fmt.Fprintln(cmd.OutOrStdout(), explainLine(step))
		return nil
	}
	out := json.NewEncoder(cmd.OutOrStdout())
	out.SetEscapeHTML(false)
	if err := out.Encode(step); err != nil {
		return fmt.Errorf("print a transition: %w", err)
	}
	return nil
}

// expected compares the order of states with the one that was asked for.
func expected(steps []replay.Step, expect string) error {
	if expect == "" {
		return nil
	}
	var want, got []string
	for word := range strings.SplitSeq(expect, ",") {
		word = strings.TrimSpace(word)
		if !slices.Contains(agent.States, agent.State(word)) {
			return fmt.Errorf("--expect: there is no state %s", api.Quote(word))
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
