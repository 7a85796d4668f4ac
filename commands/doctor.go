package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"berth/doctor"
	"berth/keys"
)

func doctorVerb() *Verb {
	return &Verb{
		Name: "doctor", Group: "access", Synopsis: "[--bundle]", Short: "look for what is wrong with the server and its machine, and say what to do",
		Examples: []Example{
			{"doctor", "what is wrong, with a remedy; exit status 0 is well, 1 a warning, 2 an error"},
			{"doctor --bundle", "the same as a tar file for a report, without keys, environments and texts"},
		},
		Need: keys.Admin, Answer: []doctor.Result{}, Run: examine,
		Flags: func(f *pflag.FlagSet) {
			f.Bool("bundle", false, "write a tar file for a report: what doctor finds, versions and counts")
		},
	}
}

func examine(ctx context.Context, c *Call) error {
	if err := c.wholeServer("doctor"); err != nil {
		return err
	}
	results := c.Doctor(ctx)
	if bundle, _ := c.flags.GetBool("bundle"); bundle {
		health := c.Sessions.Health(c.sees, true)
		return doctor.Bundle(c.Out, c.Now(), results, map[string]any{"sessions": health.States, "hooks": health.Hooks, "disk": health.Disk, "memory": health.Memory})
	}
	if err := c.answer(results, func(w io.Writer) { WriteDoctor(w, results) }); err != nil {
		return err
	}
	if _, status := doctor.Worst(results); status != 0 {
		return statusError(status)
	}
	return nil
}

// WriteDoctor writes the results for a person: what is wrong first.
func WriteDoctor(w io.Writer, results []doctor.Result) {
	for _, status := range []doctor.Status{doctor.Error, doctor.Warning, doctor.OK} {
		for _, r := range results {
			if r.Status != status {
				continue
			}
			fmt.Fprintf(w, "%-8s%-12s %s\n", r.Status, r.Check, strings.ReplaceAll(r.Message, "\n", "\n                     "))
			if r.Remedy != "" {
				fmt.Fprintf(w, "%20s %s\n", "do:", r.Remedy)
			}
		}
	}
}
