package post

import (
	"context"
	"errors"
	"slices"
	"strings"

	"berth/api"
	"berth/sessions"
	"berth/sessions/command"
	"berth/sessions/notify"
)

// kindTest is the kind of a notice that an admin asked for. No rule names it.
const kindTest = "test"

// Names are the ids of the rules that Test knows: those of all sessions and each session's own.
func (p *Poster) Names() []string {
	var names []string
	for _, r := range p.all() {
		names = append(names, r.ID())
	}
	return names
}

// List is the rules with how the last notice by each ended, without what they send to.
func (p *Poster) List() []Listed {
	list := []Listed{}
	for _, r := range p.all() {
		l := Listed{Rule: r.ID(), Service: r.Service(), On: r.On, Sessions: r.Sessions, Tags: r.Tags}
		if last, ok := p.last.of(r.ID()); ok {
			l.Last = &last
		}
		list = append(list, l)
	}
	return list
}

// all are the rules of all sessions and each session's own.
func (p *Poster) all() []notify.Rule {
	list := slices.Clone(p.o.Rules)
	for _, s := range p.o.Sessions.All() {
		for _, r := range p.rules(s.ID()) {
			if !slices.ContainsFunc(list, func(o notify.Rule) bool { return o.ID() == r.ID() }) {
				list = append(list, r)
			}
		}
	}
	return list
}

// ErrNoRule is that no rule has the name.
var ErrNoRule = errors.New("there is no such rule")

// Test sends a notice about nothing by the rule of that name, once and now. It returns the name of its service.
func (p *Poster) Test(ctx context.Context, name string) (service string, err error) {
	all := p.all()
	at := slices.IndexFunc(all, func(r notify.Rule) bool { return r.ID() == name })
	if at < 0 {
		return "", ErrNoRule
	}
	r, now := all[at], api.At(p.o.Now())
	b := Body{
		ID: "test:" + now.Format("20060102T150405"), Rule: r.ID(), Kind: kindTest, Text: "This is a test. A notice has the command that answers here:", Time: now, Session: "berth",
		State: "idle", Since: now, Tags: []string{}, Respond: []string{p.o.SSH + " waiting"}, Attach: strings.Replace(p.o.SSH, "ssh ", "ssh -t ", 1),
	}
	_, _, wrong, err := p.try(ctx, forNone{p.o.Sessions}, r, b, nil)
	if err == nil {
		err = wrong
	}
	p.last.add(r.ID(), Last{At: now, Kind: kindTest}, err)
	return r.Service(), err
}

// forNone runs a command that is about no session.
type forNone struct{ sessions *sessions.Registry }

func (n forNone) Run(ctx context.Context, c command.Command) (command.Result, error) {
	return n.sessions.RunForNone(ctx, c)
}
