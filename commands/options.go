package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// refuseEmpty refuses an option with an empty value, such as an unset variable. For most options
// an empty value would allow more: any session, the server's own user, any prompt, or no
// comparison with a head.
func (c *Call) refuseEmpty(verb *Verb) error {
	var why error
	c.flags.Visit(func(f *pflag.Flag) {
		if why == nil && emptyValue(f) {
			why = fmt.Errorf("--%s is empty: give it a value or leave it out", f.Name)
		}
	})
	if why != nil {
		return verb.usage(why)
	}
	return nil
}

// emptyValue says whether an option has no value, or a list with an empty element.
func emptyValue(f *pflag.Flag) bool {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		all := list.GetSlice()
		return len(all) == 0 || slices.ContainsFunc(all, func(e string) bool { return strings.TrimSpace(e) == "" })
	}
	return f.Value.String() == ""
}
