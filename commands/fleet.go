package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/fleet/registry"
	"berth/keys"
)

// FleetHost is a host of a fleet, as fleet ls shows it.
type FleetHost struct {
	Host      string   `json:"host"`
	Gateway   bool     `json:"gateway"` // the host that answers
	Reachable bool     `json:"reachable"`
	Draining  bool     `json:"draining"`  // no new session is started there
	Since     api.Time `json:"since_at"`  // of reachable; null: not known
	Joined    api.Time `json:"joined_at"` // null for the gateway
	HostKeys  []string `json:"host_keys"` // fingerprints
}

// FleetInvite is a token for a new host.
type FleetInvite struct {
	Host    string   `json:"host"`
	Token   string   `json:"token"`
	Command string   `json:"command"` // to run on the host
	Expires api.Time `json:"expires_at"`
}

// FleetMember is what a server is in its fleet.
type FleetMember struct {
	Host    string `json:"host"`
	Gateway string `json:"gateway"` // its address
	MaxRole string `json:"max_role"`
}

// FleetRemoved is a host that was removed.
type FleetRemoved struct {
	Host string `json:"host"`
}

// FleetDrained is a host that was drained, or no longer is.
type FleetDrained struct {
	Host     string `json:"host"`
	Draining bool   `json:"draining"`
}

// Fleet is what the verb fleet does. The functions of a gateway are nil on another server.
type Fleet struct {
	Hosts  func(ctx context.Context) ([]FleetHost, error)
	Invite func(name, by string) (FleetInvite, error)
	Remove func(name string) error
	Drain  func(name string, on bool) error

	Join  func(ctx context.Context, token string, most keys.Role) (FleetMember, error)
	Leave func() (FleetMember, error)
	Self  func() (FleetMember, bool, error) // whether it is connected; NOT_FOUND in no fleet

	Name  func() string          // of this host; empty in no fleet
	Known func() []registry.Host // the other hosts, as the gateway knows them; nil: not a gateway
	Own   func() registry.Host   // the gateway
	Host  func(name string) (registry.Host, bool)

	Follow func(since uint64) FleetEvents // the events of all hosts, after a cursor; nil: not a gateway
	Head   func() uint64                  // the newest one's
}

func fleetVerb() *Verb {
	return &Verb{
		Name: "fleet", Group: "access", Synopsis: "ls | invite HOST | rm HOST | drain HOST [--undo] | join TOKEN|- [--max-role ROLE] | leave",
		Short: "servers that are reached through one: list, invite, remove and drain hosts at the gateway; join and leave on a host",
		Examples: []Example{
			{"fleet ls", "the hosts, and which are connected"},
			{"fleet invite box2", "print the line to run on the new host box2"},
			{"fleet rm box2", "take its rights; its sessions go on there"},
			{"fleet drain box2", "start no session there any more; --undo lets them again"},
			{"fleet join TOKEN --max-role viewer", "on a host: callers who come through the gateway may look"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: 2, Parts: []string{"ls", "invite", "rm", "drain", "join", "leave"}, NoSession: true, Run: runFleet,
		Answer: []FleetHost{}, Others: map[string]any{"ls": []FleetHost{}, "invite": FleetInvite{}, "rm": FleetRemoved{}, "drain": FleetDrained{}, "join": FleetMember{}, "leave": FleetMember{}},
		Flags: func(f *pflag.FlagSet) {
			f.Bool("undo", false, "with drain: let new sessions there again")
			f.String("max-role", keys.Operator.String(), "with join: the most that callers of the gateway may do here: viewer, responder, operator or admin")
		},
	}
}

// notGateway is the answer of a server that has no hosts.
func notGateway(part string) error {
	return api.Errorf(api.CodeBadRequest, "fleet %s is for a fleet's gateway, and this server is none: set fleet.listen in its berth.yaml, or fleet.nats", part)
}

func runFleet(ctx context.Context, c *Call) error {
	usage := func(text string) error { return Lookup("fleet").usage(errors.New(text)) }
	part, rest := c.Args[0], c.Args[1:]
	if !slices.Contains(Lookup("fleet").Parts, part) {
		return usage("unknown word " + api.Quote(part))
	}
	if c.flags.Changed("max-role") && part != "join" {
		return usage("--max-role is for join")
	}
	if c.flags.Changed("undo") && part != "drain" {
		return usage("--undo is for drain")
	}
	if takes := part != "ls" && part != "leave"; takes != (len(rest) == 1) {
		return usage(part + " takes " + map[bool]string{true: "one word", false: "no word"}[takes])
	}
	switch part {
	case "ls":
		return c.listHosts(ctx)
	case "invite":
		return c.inviteHost(rest[0])
	case "rm":
		return c.removeHost(rest[0])
	case "drain":
		return c.drainHost(rest[0])
	case "join":
		return c.joinFleet(ctx, rest[0])
	}
	left, err := c.Fleet.Leave()
	if err != nil {
		return err
	}
	return c.answer(left, func(w io.Writer) {
		fmt.Fprintf(w, "this server has left the fleet of %s; remove it there too: fleet rm %s\n", left.Gateway, left.Host)
	})
}

func (c *Call) listHosts(ctx context.Context) error {
	if c.Fleet.Hosts == nil {
		return c.showMembership()
	}
	list, err := c.Fleet.Hosts(ctx)
	if err != nil {
		return err
	}
	return c.answer(list, func(w io.Writer) {
		rows := [][]string{{"HOST", "CONNECTED", "SINCE", "JOINED", "HOST KEY"}}
		for _, h := range list {
			state, key := "no", "-"
			if h.Reachable {
				state = "yes"
			}
			if h.Gateway {
				state = "gateway"
			} else if h.Draining {
				state += ", drains"
			}
			if len(h.HostKeys) > 0 {
				key = h.HostKeys[0]
			}
			rows = append(rows, []string{h.Host, state, c.agoOrDash(h.Since), c.agoOrDash(h.Joined), key})
		}
		table(w, rows)
		if len(list) < 2 {
			fmt.Fprintln(w, "no other host yet; invite one with: fleet invite HOST")
		}
	})
}

func (c *Call) agoOrDash(t api.Time) string {
	if t.IsZero() {
		return "-"
	}
	return ago(c.Now(), t.Time)
}

// showMembership is fleet ls on a host.
func (c *Call) showMembership() error {
	m, connected, err := c.Fleet.Self()
	if err != nil {
		return err
	}
	row := FleetHost{Host: m.Host, Reachable: connected, HostKeys: []string{}}
	return c.answer([]FleetHost{row}, func(w io.Writer) {
		state := "not connected"
		if connected {
			state = "connected"
		}
		fmt.Fprintf(w, "this server is %s in the fleet of %s (%s); its callers are at most %s here\n", m.Host, m.Gateway, state, m.MaxRole)
	})
}

func (c *Call) inviteHost(name string) error {
	if c.Fleet.Invite == nil {
		return notGateway("invite")
	}
	invited, err := c.Fleet.Invite(name, c.Identity().Name)
	if err != nil {
		return err
	}
	return c.answer(invited, func(w io.Writer) {
		fmt.Fprintf(w, "Run this on %s within 15 minutes. The line is good for one host, which joins as %s:\n\n  %s\n", invited.Host, invited.Host, invited.Command)
	})
}

func (c *Call) removeHost(name string) error {
	if c.Fleet.Remove == nil {
		return notGateway("rm")
	}
	if err := c.Fleet.Remove(name); err != nil {
		return err
	}
	return c.answer(FleetRemoved{name}, func(w io.Writer) {
		fmt.Fprintf(w, "%s was removed from the fleet; its sessions go on there\n", name)
	})
}

func (c *Call) drainHost(name string) error {
	if c.Fleet.Drain == nil {
		return notGateway("drain")
	}
	undo, _ := c.flags.GetBool("undo")
	if err := c.Fleet.Drain(name, !undo); err != nil {
		return err
	}
	return c.answer(FleetDrained{name, !undo}, func(w io.Writer) {
		if undo {
			fmt.Fprintf(w, "new sessions are started on %s again\n", name)
			return
		}
		fmt.Fprintf(w, "no new session is started on %s through this gateway; those that are there go on\n", name)
	})
}

// joinFleet joins with a token, or with that on standard input: there no other user of the machine can read it
// among the arguments of a process and use it first.
func (c *Call) joinFleet(ctx context.Context, token string) error {
	if token == "-" {
		const most = 4<<10 + 2 // the longest token, and the end of a line
		data, err := io.ReadAll(io.LimitReader(c.In, most+1))
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		if len(data) > most {
			return api.Errorf(api.CodeLimit, "standard input is longer than a token: nothing was changed")
		}
		if err := c.stillAllowed(); err != nil {
			return err
		}
		token = strings.TrimSpace(string(data))
	}
	text, _ := c.flags.GetString("max-role")
	most, err := keys.ParseRole(text)
	if err != nil {
		return Lookup("fleet").usage(fmt.Errorf("--max-role: %w", err))
	}
	joined, err := c.Fleet.Join(ctx, token, most)
	if err != nil {
		return err
	}
	return c.answer(joined, func(w io.Writer) {
		fmt.Fprintf(w, "this server is %s in the fleet of %s; callers who come through it are at most %s here\n", joined.Host, joined.Gateway, joined.MaxRole)
	})
}
