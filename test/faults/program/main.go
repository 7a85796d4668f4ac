// Command program is the program in the sessions of the fault tests. It records what it printed and read
// in files. The tests compare them with what Berth reports.
//
//	program count DIR          prints numbered lines and terminal queries, reads replies and pastes
//	program print DIR BYTES    prints that many bytes of log for each line it reads
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "program:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "count":
		return count(args[1])
	case len(args) == 3 && args[0] == "print":
		n, err := strconv.ParseInt(args[2], 10, 64)
		if err != nil {
			return err
		}
		return printer(args[1], n)
	}
	return fmt.Errorf("unknown arguments %q", args)
}
