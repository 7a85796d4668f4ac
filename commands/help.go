package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"berth/keys"
)

func helpVerb() *Verb {
	return &Verb{Name: "help", Group: "see", Synopsis: "[VERB|TOPIC]", Short: "list the verbs and topics, or describe one",
		Examples: []Example{
			{"help", "all verbs that you may use"},
			{"help nudge", "one verb, with its options and examples"},
			{"help quoting", "a topic"},
			{"help --json", "all verbs as JSON"},
		},
		Need: keys.Viewer, MaxArgs: 1, TextOnly: true, Answer: []Helped{}, Others: map[string]any{"topic": Topic{}}, Alone: true, Run: help}
}

// Helped describes one verb in the answer of help.
type Helped struct {
	Name    string         `json:"name"`
	Group   string         `json:"group"`
	Usage   string         `json:"usage"`
	Short   string         `json:"short"`
	Role    string         `json:"role"` // the role that the verb needs
	Options []HelpedOption `json:"options"`
	Schemas []string       `json:"schemas"` // the words after schema for its answers; none: it doesn't answer with JSON
	// Examples are lines to put after "ssh agents@host".
	Examples []HelpedExample `json:"examples"`
}

// HelpedExample is a line that calls a verb, and what it does.
type HelpedExample struct {
	Line string `json:"line"`
	Does string `json:"does"`
}

// HelpedOption describes an option of a verb.
type HelpedOption struct {
	Name    string `json:"name"` // without the dashes
	Type    string `json:"type"` // bool for an option without a value
	Usage   string `json:"usage"`
	Default string `json:"default"`
}

func helped(v *Verb) Helped {
	h := Helped{Name: v.Name, Group: v.Group, Usage: v.Usage(), Short: v.Short, Role: v.Need.String(), Options: []HelpedOption{}, Schemas: v.schemas(), Examples: []HelpedExample{}}
	for _, e := range v.Examples {
		h.Examples = append(h.Examples, HelpedExample(e))
	}
	own := pflag.NewFlagSet(v.Name, pflag.ContinueOnError)
	if v.Flags != nil {
		v.Flags(own)
	}
	own.VisitAll(func(f *pflag.Flag) {
		h.Options = append(h.Options, HelpedOption{Name: f.Name, Type: f.Value.Type(), Usage: f.Usage, Default: f.DefValue})
	})
	return h
}

var groups = []string{"see", "follow", "drive", "keep", "talk", "access", "stay"}

func help(_ context.Context, c *Call) error {
	if len(c.Args) == 1 {
		return c.helpOn(c.Args[0])
	}
	list := []Helped{}
	for _, v := range verbs() {
		if c.Identity().May(v.Name, v.Need) == nil {
			list = append(list, helped(v))
		}
	}
	return c.answer(list, func(w io.Writer) {
		fmt.Fprintln(w, "VERB [options] SESSION [options] ...    help VERB describes one")
		for _, g := range groups {
			rows := [][]string{}
			for _, v := range list {
				if v.Group == g {
					rows = append(rows, []string{"  " + v.Name, v.Short})
				}
			}
			if len(rows) > 0 {
				fmt.Fprintf(w, "\n%s\n", g)
				table(w, rows)
			}
		}
		fmt.Fprintln(w, "\ntopics: help TOPIC")
		rows := [][]string{}
		for _, t := range topics() {
			rows = append(rows, []string{"  " + t.name, t.short})
		}
		table(w, rows)
		fmt.Fprintln(w, "\nTARGET is a session's name, tag:T or all. Answers are text with a terminal, else JSON; --json and --text choose.")
		fmt.Fprintln(w, "Parts of an answer: -q, --json=FIELD,.., --format, --jq; see help selectors. Options stand before a text.")
	})
}

func (c *Call) helpOn(name string) error {
	verb := Lookup(Expand([]string{name})[0])
	if verb == nil {
		t, ok := findTopic(name)
		if !ok {
			others := []string{}
			for _, t := range topics() {
				others = append(others, t.name)
			}
			return unknownVerb(name, others...)
		}
		text := t.text()
		return c.answer(Topic{Name: t.name, Short: t.short, Text: text}, func(w io.Writer) { fmt.Fprint(w, t.name+": "+t.short+"\n\n"+text) })
	}
	return c.answer([]Helped{helped(verb)}, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n\n  %s\n", strings.TrimSpace(verb.Name+" "+verb.Synopsis), verb.Short)
		fmt.Fprintf(w, "  needs the role %s\n", verb.Need)
		for alias, as := range Aliases() { // a verb has at most one
			if as[0] == verb.Name {
				fmt.Fprintf(w, "  %s is %s\n", alias, strings.Join(as, " "))
			}
		}
		if verb.Flags != nil {
			flags := pflag.NewFlagSet(verb.Name, pflag.ContinueOnError)
			verb.Flags(flags)
			fmt.Fprintf(w, "\n%s", flags.FlagUsages())
		}
		if len(verb.Examples) > 0 {
			fmt.Fprintln(w, "\nexamples, to put after ssh agents@host")
		}
		for _, e := range verb.Examples {
			fmt.Fprintf(w, "  %s\n      %s\n", e.Line, e.Does)
		}
	})
}
