package commands

import (
	"context"
	"path"
	"slices"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/fleet/registry"
	"berth/keys"
	"berth/sessions/events"
)

// FleetEvents is a fleet's stream of events, read from a cursor. Sessions of its lines are HOST/NAME.
type FleetEvents interface {
	// Next waits for a line. host is empty for a gap in the stream.
	Next(ctx context.Context) (line events.Line, host string, err error)
	Position() uint64
	Until(cursor uint64)
}

// overFleet says that a watch reads the events of all hosts: for people and programs at a gateway. A process inside a
// session reaches no other host, so it reads its server's own log.
func (c *Call) overFleet() bool {
	return c.Fleet.Follow != nil && c.Identity().Kind != keys.KindAgent
}

// fleetStream is what watch reads at a fleet's gateway.
type fleetStream struct {
	*Call
	events FleetEvents
	words  []placed
}

// placed is a word of a line that names sessions, with the host that it is about. Of these only one is set beside the
// host: a pattern of names, or the id of the session that has the name now.
type placed struct {
	all         bool
	tag         string
	host        string
	pattern, id string
}

func (c *Call) fleetEvents(since string) (*fleetStream, error) {
	f := &fleetStream{Call: c}
	if full, _ := c.flags.GetBool("full"); full {
		return nil, api.Errorf(api.CodeUsage, "--full isn't for a fleet's gateway, where payloads over 64 KiB aren't: use it on the host, by ssh -J")
	}
	if err := c.checkNamed(c.given); err != nil {
		return nil, err
	}
	sight := c.sight()
	for _, word := range c.given {
		p, err := c.placed(word, sight)
		if err != nil {
			return nil, err
		}
		f.words = append(f.words, p)
	}
	cursor, err := c.fleetCursor(since)
	if err != nil {
		return nil, err
	}
	f.events = c.Fleet.Follow(cursor)
	return f, nil
}

// fleetCursor reads --since at a gateway; an empty string means now.
func (c *Call) fleetCursor(since string) (uint64, error) {
	head := c.Fleet.Head()
	switch since {
	case "":
		return head, nil
	case "0":
		return 0, nil
	}
	cursor, err := registry.ParseCursor(since)
	if err != nil {
		return 0, api.Errorf(api.CodeUsage, "--since %s isn't a cursor of the fleet: give one such as f123. Cursors such as e123 and S:N are those of one host, and are read there: ssh -J", api.Quote(since))
	}
	if cursor > head {
		return 0, api.Errorf(api.CodeBadRequest, "--since %s is later than the newest event, %s: is the cursor from another gateway?", since, registry.FormatCursor(head))
	}
	return cursor, nil
}

// placed finds the sessions that a word names.
func (c *Call) placed(word string, sight []registry.Host) (placed, error) {
	if word == "all" {
		return placed{all: true}, nil
	}
	if tag, ok := strings.CutPrefix(word, "tag:"); ok {
		return placed{tag: tag}, nil
	}
	hosts := map[string]bool{}
	if err := c.place(Lookup("watch"), word, sight, hosts); err != nil {
		return placed{}, err
	}
	p := placed{}
	for host := range hosts { // one, or none
		p.host = host
	}
	_, name, ok := onHost(word)
	if !ok {
		name = word
	}
	if ok && isPattern(name) {
		p.pattern = name
		return p, nil
	}
	if p.host == "" || p.host == c.Fleet.name() {
		s, err := c.session(name)
		if err != nil {
			return p, err
		}
		p.host, p.id = c.Fleet.name(), s.ID()
		return p, nil
	}
	for _, h := range sight {
		for _, s := range h.Sessions {
			if h.Name == p.host && (s.Session == name || s.ID == name) {
				p.id = s.ID
				return p, nil
			}
		}
	}
	return p, api.Errorf(api.CodeNotFound, "there is no session %s: ls lists the sessions", api.Quote(word)).With("session", word)
}

// named is a session as words see it.
type named struct {
	host, name, id string
	tags           []string
	below          func(ancestor string) bool // with --tree
}

// aimed says whether the words of a line name a session.
func (f *fleetStream) aimed(s named) bool {
	return len(f.words) == 0 || slices.ContainsFunc(f.words, func(p placed) bool {
		switch {
		case p.all:
			return true
		case p.tag != "":
			return slices.Contains(s.tags, p.tag)
		case p.host != s.host:
			return false
		case p.pattern != "":
			ok, err := path.Match(p.pattern, s.name)
			return ok && err == nil
		}
		return p.id == s.id || f.tree() && s.below(p.id)
	})
}

// aimedAt says whether the words of a line may name a session of a host.
func (f *fleetStream) aimedAt(host string) bool {
	return len(f.words) == 0 || slices.ContainsFunc(f.words, func(p placed) bool { return p.all || p.tag != "" || p.host == host })
}

func (f *fleetStream) next(ctx context.Context) (streamed, error) {
	line, host, err := f.events.Next(ctx)
	return streamed{line, host}, err
}

func (f *fleetStream) cursor() string { return registry.FormatCursor(f.events.Position()) }

func (f *fleetStream) endNow() bool {
	head := f.Fleet.Head()
	f.events.Until(head)
	return f.events.Position() < head
}

// fleetSnapshot is the state of a session when a watch begins, at a gateway: what ls shows of it.
type fleetSnapshot struct {
	streamLine
	Session  string      `json:"session"`
	ID       string      `json:"id"`
	Snapshot api.Session `json:"snapshot"`
}

// begin answers from what the gateway knows, so no host delays it.
func (f *fleetStream) begin(*watcher) ([]seen, error) {
	var out []seen
	add := func(row api.Session, pending bool) {
		out = append(out, seen{row.Session, agent.State(row.State), pending, func(head streamLine) any {
			return fleetSnapshot{head, row.Session, row.ID, row}
		}})
	}
	for _, s := range f.Seen(f.Request) {
		status := s.Status()
		if f.aimed(f.ownNamed(status.Name, status.ID, status.Tags)) {
			add(f.withHost(status.Row()), status.FirstPending)
		}
	}
	for _, h := range f.sight() {
		for _, s := range h.Sessions {
			if f.aimed(hostNamed(h, s)) {
				add(atHost(h, s), slices.Contains(h.Pending, s.ID))
			}
		}
	}
	return out, nil
}

func (f *fleetStream) ownNamed(name, id string, tags []string) named {
	return named{f.Fleet.name(), name, id, tags, func(ancestor string) bool { return f.Sessions.Descends(id, ancestor) }}
}

func hostNamed(h registry.Host, s api.Session) named {
	return named{h.Name, s.Session, s.ID, s.Tags, func(ancestor string) bool { return h.Descends(s.ID, ancestor) }}
}

func (f *fleetStream) concerns(_ *watcher, line streamed) bool {
	if line.ID == "" { // a gap: of the stream, or of a host's log
		return line.host == "" || f.Identity().SeesHost(line.host) && f.aimedAt(line.host)
	}
	_, name, _ := strings.Cut(line.Session, "/")
	if line.host == f.Fleet.name() {
		own := line.Line
		own.Session = name
		var tags []string
		if s, ok := f.Sessions.Find(line.ID); ok {
			tags = s.Status().Tags
		}
		return f.mayRead(own) && f.aimed(f.ownNamed(name, line.ID, tags))
	}
	h, _ := f.Fleet.Host(line.host)
	s := api.Session{Session: name, ID: line.ID} // removed, or not yet known
	for _, row := range h.Sessions {
		if row.ID == line.ID {
			s = row
		}
	}
	return f.Identity().SeesOn(line.host, s.Session, s.Tags) && f.aimed(hostNamed(h, s))
}

func (f *fleetStream) idle(line streamed) bool {
	if line.host == f.Fleet.name() {
		return f.idleNow(line.ID)
	}
	h, _ := f.Fleet.Host(line.host)
	return slices.ContainsFunc(h.Sessions, func(s api.Session) bool { return s.ID == line.ID && s.State == string(agent.Idle) })
}
