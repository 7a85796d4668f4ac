package commands

import (
	"encoding/json"
	"strings"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/commands/words"
)

// Aliases are words that hands know from other programs, each with the verb and the options that it
// stands for. A line is rewritten before anything else reads it, so rights and the audit log know only
// verbs.
func Aliases() map[string][]string {
	return map[string][]string{
		"logs": {"output", "--follow", "--text", "--lines", "10"},
		"stop": {"kill"},
	}
}

// explained are words of other programs that no verb stands for, and what to do instead.
var explained = map[string]string{
	"exec": "there is no exec: input S --enter TEXT types a command into a running session, and new NAME -- COMMAND starts one in a session of its own",
	"run":  "there is no run: new NAME -- COMMAND starts a program in a session, and attach NAME joins it",
}

// Expand replaces an alias at the start of argv.
func Expand(argv []string) []string {
	if len(argv) > 0 {
		if as := Aliases()[argv[0]]; as != nil {
			return append(as, argv[1:]...)
		}
	}
	return argv
}

// expandLine replaces an alias at the start of a line.
func expandLine(line string) string {
	name, err := words.Verb(line)
	as := Aliases()[name]
	if err != nil || as == nil {
		return line
	}
	line = strings.TrimLeft(line, " \t\r\n")
	if rest, ok := strings.CutPrefix(line, name); ok {
		return strings.Join(as, " ") + rest
	}
	list, err := words.Words(line) // a JSON array, or a quoted verb
	if err != nil {
		return line // parse reports it
	}
	array, err := json.Marshal(Expand(list))
	if err != nil {
		return line
	}
	return string(array)
}

// targetFlags adds --all and --label to a verb that takes several targets. A verb may have an --all
// of its own.
func targetFlags(flags *pflag.FlagSet, verb *Verb) {
	if !verb.Targets {
		return
	}
	if flags.Lookup("all") == nil {
		flags.Bool("all", false, "the target all")
	}
	flags.StringSlice("label", nil, "the targets tag:LABEL")
	if treeVerbs[verb.Name] {
		flags.Bool("tree", false, "with each target the sessions that its agent started, and theirs")
	}
}

// treeVerbs are the verbs that may take a session with all below it.
var treeVerbs = map[string]bool{"ls": true, "kill": true, "watch": true, "rm": true}

// addTargets adds the targets of --all and --label to the words.
func (c *Call) addTargets(verb *Verb) error {
	if !verb.Targets {
		return nil
	}
	own := pflag.NewFlagSet(verb.Name, pflag.ContinueOnError)
	if verb.Flags != nil {
		verb.Flags(own)
	}
	if all, _ := c.flags.GetBool("all"); all && own.Lookup("all") == nil {
		c.Args = append(c.Args, "all")
	}
	labels, _ := c.flags.GetStringSlice("label")
	for _, label := range labels {
		if err := api.CheckTag(label); err != nil {
			return err
		}
		c.Args = append(c.Args, "tag:"+label)
	}
	return nil
}
