package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"berth/config"
)

func configCommand() *cobra.Command {
	parent := &cobra.Command{Use: "config", Short: "check berth.yaml"}
	check := &cobra.Command{
		Use: "check [FILE]", Short: "list the errors in berth.yaml, by file and line", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return checkConfig(args) },
	}
	parent.AddCommand(check)
	return parent
}

func checkConfig(args []string) error {
	path := ""
	if len(args) == 1 {
		path = args[0]
	} else {
		for _, candidate := range config.SearchPath(os.Environ()) {
			if _, err := os.Stat(candidate); err == nil {
				path = candidate
				break
			}
		}
	}
	if path == "" {
		return errors.New("berth.yaml wasn't found in the usual places; name the file: berth config check FILE")
	}
	bad := false
	for _, p := range config.Check(path) {
		fmt.Println(p)
		bad = bad || !p.Notice
	}
	if bad {
		return exitStatus(2)
	}
	fmt.Println(path + ": ok")
	return nil
}
