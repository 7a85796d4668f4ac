package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/commands/words"
	"berth/keys"
)

// checkGrant refuses options that could grant more than the caller meant: options that this
// subcommand would ignore, and those that checkKeyLast refuses.
func (c *Call) checkGrant(verb *Verb, has ...string) error {
	var why error
	c.flags.Visit(func(f *pflag.Flag) {
		switch {
		case f.Value.Type() == "bool" && f.Name != "last", why != nil:
		case !slices.Contains(has, f.Name):
			why = fmt.Errorf("--%s has no effect here", f.Name)
		}
	})
	if why == nil && slices.Contains(has, "name") { // this subcommand adds a key
		list, err := words.Words(c.Line)
		if err != nil {
			return api.Errorf(api.CodeUsage, "%s: %w", verb.Name, err)
		}
		why = checkKeyLast(list, func(name string) bool { f := c.flags.Lookup(name); return f != nil && f.NoOptDefVal == "" })
	}
	if why != nil {
		return verb.usage(why)
	}
	return nil
}

// checkKeyLast refuses options after a key and options given twice. The comment in a .pub file is
// its owner's text: the caller's shell can turn it into options, and the last value would win.
func checkKeyLast(list []string, takesValue func(name string) bool) error {
	given := map[string]bool{}
	key := false
	for i := 1; i < len(list); i++ {
		word := list[i]
		name, option := strings.CutPrefix(word, "--")
		switch {
		case key && word != "-" && strings.HasPrefix(word, "-"):
			return fmt.Errorf("%s comes after the key: put options before the key, or give - and the key on standard input", api.Quote(word))
		case key:
		case word == "--":
			key = true
		case option:
			name, _, whole := strings.Cut(name, "=")
			if given[name] {
				return fmt.Errorf("--%s is given twice", name)
			}
			given[name] = true
			if !whole && takesValue(name) {
				i++
			}
		case keys.BeginsKey(word):
			key = true
		}
	}
	return nil
}
