package commands

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"berth/keys"
)

// takesSession matches the synopsis of a verb whose first word is a session.
var takesSession = regexp.MustCompile(`^\[?(S|TARGET)\b`)

// Complete lists what the last word of a line may become, for a caller who types it: verbs that the
// caller may use, their parts and options, sessions that the caller may see, profiles and topics. from
// is the byte of the line where these words begin.
func (s *Service) Complete(r Request, line string) (from int, found []string) {
	from = strings.LastIndexAny(line, " \t") + 1
	before, word := strings.Fields(line[:from]), line[from:]
	add := func(words ...string) {
		for _, w := range words {
			if strings.HasPrefix(w, word) && !slices.Contains(found, w) {
				found = append(found, w)
			}
		}
	}
	id := r.Identity()
	if len(before) == 0 {
		for _, name := range Names() {
			if id.May(name, needs()[name]) == nil {
				add(name)
			}
		}
		return from, found
	}
	verb := Lookup(before[0])
	if verb == nil || slices.Contains(before, "--") {
		return from, nil
	}
	flags := newFlags(verb)
	if strings.HasPrefix(word, "-") {
		if name, _, ok := strings.Cut(word, "="); ok {
			from += len(name) + 1
			word = line[from:]
			add(s.valuesOf(r, strings.TrimLeft(name, "-"))...)
			return from, found
		}
		flags.VisitAll(func(f *pflag.Flag) { add("--" + f.Name) })
		return from, found
	}
	var args []string // the words before it that aren't options
	for i := 1; i < len(before); i++ {
		name, isOption := strings.CutPrefix(before[i], "--")
		if !isOption {
			args = append(args, before[i])
			continue
		}
		if f := flags.Lookup(name); f != nil && f.NoOptDefVal == "" { // its value is the next word
			if i++; i == len(before) {
				add(s.valuesOf(r, name)...)
				return from, found
			}
		}
	}
	switch {
	case len(verb.Parts) > 0 && len(args) == 0:
		add(verb.Parts...)
	case verb.Name == "help" && len(args) == 0:
		add(Names()...)
		for _, t := range topics() {
			add(t.name)
		}
	case verb.Name == "schema" && len(args) == 0:
		add(Names()...)
	case verb.Targets, verb.Tail && !verb.NoSession && len(args) == 0 && strings.HasPrefix(verb.Synopsis, "TARGET"):
		if i := strings.LastIndexByte(word, ','); i >= 0 && verb.Tail { // a list of sessions
			from, word = from+i+1, word[i+1:]
		}
		add(s.namesOf(r)...)
		add(s.tagsOf(r)...)
		add("all")
	case takesSession.MatchString(verb.Synopsis) && len(args) == 0, verb.Name == "worktree" && len(args) == 1 && args[0] != "ls":
		add(s.namesOf(r)...)
	}
	return from, found
}

// valuesOf are the values of an option that the caller may know.
func (s *Service) valuesOf(r Request, option string) []string {
	switch option {
	case "session":
		return s.namesOf(r)
	case "profile":
		profiles, _ := s.MayStart(r)
		return profiles
	case "role":
		return []string{keys.Viewer.String(), keys.Responder.String(), keys.Operator.String(), keys.Admin.String()}
	}
	return nil
}

// namesOf are the names of the sessions that the caller may see.
func (s *Service) namesOf(r Request) (names []string) {
	for _, one := range s.Seen(r) {
		names = append(names, one.Status().Name)
	}
	slices.Sort(names)
	return names
}

// tagsOf are their tags as targets.
func (s *Service) tagsOf(r Request) (tags []string) {
	for _, one := range s.Seen(r) {
		for _, t := range one.Status().Tags {
			tags = append(tags, "tag:"+t)
		}
	}
	slices.Sort(tags)
	return tags
}
