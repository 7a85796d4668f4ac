package commands

import (
	"context"
	"path"
	"slices"
	"strings"

	"berth/api"
	"berth/fleet/registry"
	"berth/keys"
	"berth/sessions"
)

// Names across a fleet. HOST/SESSION is a session of a host, and HOST/PATTERN several of them. Each server reads its
// own host's part of a line and passes over the others', so a gateway carries a line to hosts as it arrived.

// Route is where a line is run: here, on other hosts, or both.
type Route struct {
	Here  bool
	Hosts []string // the others, sorted
	Line  string
	verb  *Verb

	Shaped bool // the caller has chosen what an answer looks like
}

// Away says that another host has a part in it.
func (r Route) Away() bool { return len(r.Hosts) > 0 }

// namesSession says whether the verb's first words are sessions.
func (v *Verb) namesSession() bool {
	first, _, _ := strings.Cut(strings.TrimLeft(v.Synopsis, "["), " ")
	return !v.NoSession && v.Group != "access" && (strings.TrimRight(first, "]") == "S" || strings.HasPrefix(first, "TARGET"))
}

// sessionWords are the words of a parsed line that name sessions.
func (c *Call) sessionWords(v *Verb) []string {
	switch {
	case v.Name == "new" && len(c.Args) > 0 && c.flags.ArgsLenAtDash() != 0:
		return c.Args[:1]
	case v.Name == "worktree" && len(c.Args) > 1:
		return c.Args[1:2]
	case !v.namesSession() || len(c.Args) == 0:
		return nil
	case v.Targets:
		return c.Args
	}
	return strings.Split(c.Args[0], ",")
}

// onHost splits HOST/REST. A tag may have a slash too.
func onHost(word string) (host, rest string, ok bool) {
	if strings.HasPrefix(word, "tag:") {
		return "", word, false
	}
	host, rest, ok = strings.Cut(word, "/")
	return host, rest, ok && rest != "" && api.CheckHost(host) == nil
}

// overFleet says that a gateway answers the verb for all hosts by itself, so its line is carried nowhere.
func (v *Verb) overFleet() bool { return v.Name == "ls" || v.Name == "watch" }

// isPattern says whether a word of a host matches several sessions.
func isPattern(word string) bool { return strings.ContainsAny(word, "*?[") }

// atHome removes the own host from the words that name sessions, and the words of other hosts where some are left.
// So each host takes its part of a line.
func (c *Call) atHome(v *Verb) {
	own := c.Fleet.name()
	if own == "" || len(c.sessionWords(v)) == 0 {
		return
	}
	at := func(word string) string {
		host, rest, ok := onHost(word)
		switch {
		case !ok || host != own:
			return word
		case rest == "*":
			return "all"
		}
		return rest
	}
	mine := func(list []string) []string {
		out := []string{}
		for _, word := range list {
			if host, _, ok := onHost(word); !ok || host == own {
				out = append(out, at(word))
			}
		}
		if len(out) == 0 {
			return list
		}
		return out
	}
	args := slices.Clone(c.Args)
	switch {
	case v.Name == "new", v.Name == "worktree":
		i := min(len(args)-1, map[string]int{"worktree": 1}[v.Name])
		args[i] = at(args[i])
	case v.Targets:
		args = mine(args)
	default:
		args[0] = strings.Join(mine(strings.Split(args[0], ",")), ",")
	}
	c.Args = args
}

// name is the own host's; empty in no fleet.
func (f Fleet) name() string {
	if f.Name == nil {
		return ""
	}
	return f.Name()
}

// sight is what a caller sees of the fleet's hosts: those that it may have sessions on, with the sessions that it sees.
func (c *Call) sight() []registry.Host {
	id := c.Identity()
	if c.Fleet.Known == nil || id.Kind == keys.KindAgent {
		return nil
	}
	hosts := slices.DeleteFunc(slices.Clone(c.Fleet.Known()), func(h registry.Host) bool { return !id.SeesHost(h.Name) })
	for i := range hosts {
		hosts[i].Sessions = slices.DeleteFunc(slices.Clone(hosts[i].Sessions), func(s api.Session) bool { return !id.SeesOn(hosts[i].Name, s.Session, s.Tags) })
	}
	return hosts
}

// mostNamed bounds the sessions that a line may name at a gateway: each is looked for on all hosts.
const mostNamed = 1000

// checkNamed refuses a line that names too many sessions.
func (c *Call) checkNamed(words []string) error {
	if n := len(words); c.Fleet.Known != nil && n > mostNamed {
		return api.Errorf(api.CodeLimit, "the line names %d sessions, and a fleet's gateway takes at most %d: use tag:T or several lines", n, mostNamed)
	}
	return nil
}

// Route says where a line is run. name is the SSH user name, which attaches to a session when there is no line. A
// process inside a session reaches no other host.
func (s *Service) Route(r Request, name string) (Route, error) {
	c := &Call{Service: s, Request: r, routing: true}
	here := Route{Here: true, Line: r.Line}
	if s.Fleet.Known == nil || r.Identity().Kind == keys.KindAgent {
		return here, nil
	}
	if strings.TrimSpace(r.Line) == "" {
		if _, _, ok := onHost(name); !ok {
			return here, nil
		}
		c.Line = "attach " + name
	}
	c.Line = expandLine(c.Line)
	verb, err := c.parse()
	if err != nil || verb.overFleet() || verb.Name == "help" {
		return here, nil // which answers with the error, or from what the gateway knows
	}
	shape, err := c.shapeOption(verb)
	if err != nil {
		return here, nil // likewise
	}
	route := Route{Line: c.Line, verb: verb, Shaped: shape != ""}
	if verb.Name == "new" && c.flags.Changed("host") {
		return c.routeNew(route)
	}
	words := c.sessionWords(verb)
	if err := c.checkNamed(words); err != nil {
		return route, err
	}
	hosts, sight := map[string]bool{}, c.sight()
	for _, word := range words {
		if err := c.place(verb, word, sight, hosts); err != nil {
			return route, err
		}
	}
	route.Here = hosts[s.Fleet.name()] || len(hosts) == 0
	for host := range hosts {
		if host != s.Fleet.name() {
			route.Hosts = append(route.Hosts, host)
		}
	}
	slices.Sort(route.Hosts)
	if len(route.Hosts) > 1 || route.Here && route.Away() {
		if !verb.Targets && verb.Name != "nudge" {
			return route, api.Errorf(api.CodeUsage, "%s is for one session, and these are on several hosts", verb.Name)
		}
	}
	return route, nil
}

// place adds the hosts that have sessions that a word names.
func (c *Call) place(verb *Verb, word string, sight []registry.Host, hosts map[string]bool) error {
	own := c.Fleet.name()
	if host, _, ok := onHost(word); ok {
		known := host == own || slices.ContainsFunc(sight, func(h registry.Host) bool { return h.Name == host })
		if !known {
			return api.Errorf(api.CodeNotFound, "there is no host %s: fleet ls lists the hosts", api.Quote(host)).With("host", host)
		}
		hosts[host] = true
		if verb.Name == "new" {
			return c.drained(host)
		}
		return nil
	}
	if verb.Name == "new" {
		hosts[own] = true
		return nil
	}
	tag, several := strings.CutPrefix(word, "tag:")
	several = several || word == "all"
	if !several {
		if _, err := c.session(word); err == nil {
			hosts[own] = true
			return nil
		}
	}
	var found []string
	for _, h := range sight {
		if slices.ContainsFunc(h.Sessions, func(s api.Session) bool {
			return word == "all" || several && slices.Contains(s.Tags, tag) || !several && (s.Session == word || s.ID == word)
		}) {
			found = append(found, h.Name)
		}
	}
	if len(found) > 1 && !several {
		return api.Errorf(api.CodeBadRequest, "%s is on %s: write HOST/%s", api.Quote(word), strings.Join(found, " and "), word)
	}
	for _, host := range found {
		hosts[host] = true
	}
	if several && slices.ContainsFunc(c.Seen(c.Request), func(s *sessions.Session) bool { return word == "all" || s.Status().HasTag(tag) }) {
		hosts[own] = true
	}
	return nil
}

// routeNew chooses the host of a new session.
func (c *Call) routeNew(route Route) (Route, error) {
	want, _ := c.flags.GetString("host")
	if want == c.Fleet.name() {
		route.Here = true
		return route, nil
	}
	label, labelled := strings.CutPrefix(want, "label:")
	hosts := c.sight()
	if want != "any" && !labelled {
		if !slices.ContainsFunc(hosts, func(h registry.Host) bool { return h.Name == want }) {
			return route, api.Errorf(api.CodeNotFound, "there is no host %s: fleet ls lists the hosts", api.Quote(want)).With("host", want)
		}
		route.Hosts = []string{want}
		return route, c.drained(want)
	}
	hosts = slices.DeleteFunc(append(hosts, c.Fleet.Own()), func(h registry.Host) bool {
		return !c.Identity().SeesHost(h.Name) || !h.Reachable || h.Draining || labelled && !slices.Contains(h.Beat.Labels, label)
	})
	if len(hosts) == 0 {
		return route, api.Errorf(api.CodeUnreachable, "no host that can be reached matches --host %s: fleet ls lists the hosts", want)
	}
	best := slices.MinFunc(hosts, func(a, b registry.Host) int { return a.Beat.Running - b.Beat.Running })
	if best.Name == c.Fleet.name() {
		route.Here = true
	} else {
		route.Hosts = []string{best.Name}
	}
	return route, nil
}

// drained refuses a new session on a host that is drained.
func (c *Call) drained(host string) error {
	if slices.ContainsFunc(c.Fleet.Known(), func(h registry.Host) bool { return h.Name == host && h.Draining }) {
		return api.Errorf(api.CodeBadRequest, "%s is drained, so no new session is started there: choose another host, or undo it with fleet drain %s --undo", host, host).With("host", host)
	}
	return nil
}

// Carried runs a line on another host, by run, with the rights and the audit that it would have here, and returns
// its exit status. The host checks the caller's rights once more, and has the last word.
func (s *Service) Carried(ctx context.Context, r Request, to Route, host string, run func() (int, error)) int {
	c := &Call{Service: s, Request: r, JSON: !r.Terminal, routing: true}
	status := api.StatusDone
	err := c.Identity().May(to.verb.Name, to.verb.Need)
	if err == nil {
		err = c.recordedOn(to, host, func() (err error) {
			status, err = run()
			if err == nil && status != api.StatusDone {
				err = statusError(status)
			}
			return err
		})
	}
	return c.finish(ctx, err)
}

// recordedOn is recorded for a verb that another host runs.
func (c *Call) recordedOn(to Route, host string, run func() error) error {
	c.Line = to.Line
	verb, err := c.parse()
	if err != nil {
		return err
	}
	if !verb.changes(c.Args) && verb.Name != "attach" {
		return run()
	}
	subject := c.subject(verb)
	if _, _, named := onHost(subject); !named {
		subject = strings.TrimSuffix(host+"/"+subject, "/")
	}
	end, err := c.begin(c.Request, verb.Name, subject, nil)
	if err != nil {
		return err
	}
	err = run()
	if !end(outcome(err)) {
		c.warn("the audit log can't be written: it has no line for this " + verb.Name)
	}
	return err
}

// awayRows are the sessions of the fleet's other hosts that the words name, as the gateway knows them.
func (c *Call) awayRows(words []string) []api.Session {
	var rows []api.Session
	for _, h := range c.sight() {
		for _, s := range h.Sessions {
			if len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return matchesAway(word, h.Name, s) }) {
				continue
			}
			rows = append(rows, atHost(h, s))
		}
	}
	return rows
}

// atHost is a session of another host as the gateway shows it.
func atHost(h registry.Host, s api.Session) api.Session {
	s.Session, s.Host = h.Name+"/"+s.Session, &h.Name
	if !h.Reachable {
		seen := api.At(h.Since)
		s.LastSeen = &seen
	}
	return s
}

// matchesAway says whether a word names a session of another host.
func matchesAway(word, host string, s api.Session) bool {
	if tag, ok := strings.CutPrefix(word, "tag:"); ok {
		return slices.Contains(s.Tags, tag)
	}
	if of, rest, ok := onHost(word); ok {
		match, err := path.Match(rest, s.Session)
		return of == host && (rest == s.ID || err == nil && match)
	}
	return word == "all" || word == s.Session || word == s.ID
}

// OtherHosts are the fleet's other hosts with their sessions, for a caller that sees the part of them that
// Identity.SeesOn says; nil on a server that isn't a gateway.
func (s *Service) OtherHosts(r Request) []registry.Host {
	id := r.Identity()
	if s.Fleet.Known == nil || id.Kind == keys.KindAgent || id.May("ls", keys.Viewer) != nil {
		return nil
	}
	return s.Fleet.Known()
}
