package commands

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/commands/words"
)

// parseTail parses the line of a verb that ends in free text.
func (c *Call) parseTail(verb *Verb) error {
	form := words.Spec{Lead: verb.Lead, NoSession: verb.NoSession, Options: []words.Option{{Name: "help", Short: 'h'}}}
	c.flags.VisitAll(func(f *pflag.Flag) {
		o := words.Option{Name: f.Name, TakesValue: f.NoOptDefVal == "", Argv: f.Name == verb.Argv}
		if f.Shorthand != "" {
			o.Short = f.Shorthand[0]
		}
		form.Options = append(form.Options, o)
	})
	got, err := words.ParseTail(c.Line, form)
	if err != nil {
		return verb.usage(err)
	}
	if err := c.flags.Parse(got.Args); err != nil {
		return verb.usage(err)
	}
	if c.Args = got.Lead; !verb.NoSession {
		if got.Session == "" {
			return verb.usage(errMissing)
		}
		c.Args = append([]string{got.Session}, got.Lead...)
	}
	c.Tail, c.HasTail, c.Stdin = got.Tail, got.HasTail, got.Stdin
	return nil
}

// usage adds the verb's usage to an error about its arguments.
func (v *Verb) usage(err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		names := []string{}
		newFlags(v).VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		if near := didYouMean("--"+unknown.GetSpecifiedName(), names); near != "" {
			err = fmt.Errorf("%w: %s", err, strings.TrimSuffix(near, "? ")+"?")
			return api.Errorf(api.CodeUsage, "%s: %w Usage: %s", v.Name, err, v.Usage())
		}
	}
	return api.Errorf(api.CodeUsage, "%s: %w. Usage: %s", v.Name, err, v.Usage())
}
