package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// refuseEmpty refuses an option that was given nothing, as by a variable that is not
// set: without a value most of them mean less of what was to be kept, such as any
// sessions, the server's own user, whatever prompt there is, no head to compare with.
func (c *Call) refuseEmpty(verb *Verb) error {
	var why error
	c.flags.Visit(func(f *pflag.Flag) {
		if why == nil && emptyValue(f) {
			why = fmt.Errorf("--%s is empty: leave it out, or write what it is to be", f.Name)
		}
	})
	if why != nil {
		return verb.usage(why)
	}
	return nil
}

// emptyValue says that an option has no value, or a list with an empty element.
func emptyValue(f *pflag.Flag) bool {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		all := list.GetSlice()
		return len(all) == 0 || slices.ContainsFunc(all, func(e string) bool { return strings.TrimSpace(e) == "" })
	}
	return f.Value.String() == ""
}
