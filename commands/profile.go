package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"berth/api"
	"berth/keys"
)

// Profile is a profile as the verb profile shows it.
type Profile struct {
	Profile  string         `json:"profile"`
	Source   string         `json:"source"`    // berth.yaml, stored
	ReadOnly bool           `json:"read_only"` // only berth.yaml changes it
	Fields   map[string]any `json:"fields"`    // as a document has them; values that may be secret are hidden
}

// Profiles is what the verb profile does.
type Profiles struct {
	List   func() []Profile
	Show   func(name string) (Profile, error)
	Set    func(name string, document []byte) (Profile, error)
	Remove func(name string) (Profile, error)
}

func profileVerb() *Verb {
	return &Verb{
		Name: "profile", Group: "keep", Synopsis: "ls | show NAME | set NAME - | rm NAME",
		Short: "list, show, store and remove what new --profile starts sessions from; set reads a YAML or JSON document",
		Examples: []Example{
			{"profile ls", "berth.yaml's own, and those that were stored"},
			{"profile show build", "its fields"},
			{"profile set review -", "store the document on standard input; the next new --profile review uses it"},
			{"profile rm review", "remove it; its sessions stay"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: 3, Parts: []string{"ls", "show", "set", "rm"}, NoSession: true, Run: profile,
		Answer: Profile{}, Others: map[string]any{"ls": []Profile{}, "show": Profile{}, "set": Profile{}, "rm": Profile{}},
	}
}

func profile(_ context.Context, c *Call) error {
	usage := func(text string) error { return Lookup("profile").usage(errors.New(text)) }
	part, rest := c.Args[0], c.Args[1:]
	switch {
	case part == "ls" && len(rest) == 0:
		list := c.Profiles.List()
		return c.answer(list, func(w io.Writer) {
			rows := [][]string{{"PROFILE", "FROM", "FIELDS"}}
			for _, p := range list {
				rows = append(rows, []string{p.Profile, p.Source, orDash(strings.Join(slices.Sorted(maps.Keys(p.Fields)), " "))})
			}
			table(w, rows)
		})
	case part == "show" && len(rest) == 1:
		p, err := c.Profiles.Show(rest[0])
		if err != nil {
			return err
		}
		return c.showProfile(p, "")
	case part == "rm" && len(rest) == 1:
		p, err := c.Profiles.Remove(rest[0])
		if err != nil {
			return err
		}
		return c.showProfile(p, "the profile %s was removed\n")
	case part == "set" && len(rest) == 2 && rest[1] == "-":
		return c.setProfile(rest[0])
	case part == "set":
		return usage("set needs a name, and - for the document on standard input")
	case slices.Contains([]string{"ls", "show", "rm"}, part):
		return usage(part + " takes " + map[bool]string{true: "no name", false: "one name"}[part == "ls"])
	}
	return usage("unknown word " + api.Quote(part))
}

// setProfile stores a profile. It decides what is run, as a command of one's own does.
func (c *Call) setProfile(name string) error {
	if err := c.mayOwnCommand(); err != nil {
		return err
	}
	c.Stdin = true
	data, err := c.tailBytes()
	if err != nil {
		return err
	}
	if err := c.mayOwnCommand(); err != nil { // as it is after the document was read
		return err
	}
	p, err := c.Profiles.Set(name, data)
	if err != nil {
		return err
	}
	return c.showProfile(p, "the profile %s was stored\n")
}

// showProfile answers with a profile; with text in place of its fields for people.
func (c *Call) showProfile(p Profile, text string) error {
	return c.answer(p, func(w io.Writer) {
		if text != "" {
			fmt.Fprintf(w, text, p.Profile)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(p.Fields)) {
			value, err := json.Marshal(p.Fields[name]) // JSON is YAML too
			if err == nil {
				fmt.Fprintf(w, "%s: %s\n", name, value)
			}
		}
	})
}
