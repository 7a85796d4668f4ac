package commands

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"berth/keys"
)

// takesSession matches the synopsis of a verb whose first word is a session.
var takesSession = regexp.MustCompile(`^\[?(S|TARGET)\b`)

// TakesSession says whether the first word after the verb is a session.
func (v *Verb) TakesSession() bool { return takesSession.MatchString(v.Synopsis) }

// Complete lists what the last word of a line may become, for a caller who types it: verbs that the
// caller may use, their parts and options, sessions that the caller may see, profiles and topics. from
// is the byte of the line where these words begin.
func (s *Service) Complete(r Request, line string) (from int, found []string) {
	id := r.Identity()
	return Complete(line, Known{
		May:      func(verb string) bool { return id.May(verb, Lookup(verb).Need) == nil },
		Names:    func() []string { return s.namesOf(r) },
		Tags:     func() []string { return s.tagsOf(r) },
		Profiles: func() []string { profiles, _ := s.MayStart(r); return profiles },
	})
}

// Known is what a completion is made of, besides the verbs themselves.
type Known struct {
	May                   func(verb string) bool
	Names, Tags, Profiles func() []string // tags as targets
}

// Complete lists what the last word of a line may become. from is the byte of the line where these words
// begin.
func Complete(line string, k Known) (from int, found []string) {
	from = strings.LastIndexAny(line, " \t") + 1
	before, word := strings.Fields(line[:from]), line[from:]
	add := func(words ...string) {
		for _, w := range words {
			if strings.HasPrefix(w, word) && !slices.Contains(found, w) {
				found = append(found, w)
			}
		}
	}
	if len(before) == 0 {
		for _, name := range Names() {
			if k.May(name) {
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
			add(k.valuesOf(strings.TrimLeft(name, "-"))...)
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
				add(k.valuesOf(name)...)
				return from, found
			}
		}
	}
	switch {
	case len(verb.Parts) > 0 && len(args) == 0:
		add(verb.Parts...)
	case len(verb.Values) > 0 && len(args) == 1:
		add(verb.Values...)
	case verb.Name == "help" && len(args) == 0:
		add(Names()...)
		for _, t := range topics() {
			add(t.name)
		}
	case verb.Name == "schema" && len(args) == 0:
		add(Names()...)
	case verb.Name == "schema" && len(args) == 1:
		if of := Lookup(args[0]); of != nil {
			add(slices.Sorted(maps.Keys(of.Others))...)
		}
	case verb.Targets, verb.Tail && !verb.NoSession && len(args) == 0 && strings.HasPrefix(verb.Synopsis, "TARGET"):
		if i := strings.LastIndexByte(word, ','); i >= 0 && verb.Tail { // a list of sessions
			from, word = from+i+1, word[i+1:]
		}
		add(k.Names()...)
		add(k.Tags()...)
		add("all")
	case verb.TakesSession() && len(args) == 0, verb.Name == "worktree" && len(args) == 1 && args[0] != "ls":
		add(k.Names()...)
	}
	return from, found
}

// valuesOf are the values of an option that the caller may know.
func (k Known) valuesOf(option string) []string {
	switch option {
	case "session":
		return k.Names()
	case "profile":
		return k.Profiles()
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
