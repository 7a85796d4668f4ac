package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/keys"
)

// guestTime is how long a guest may log in without --for: a working day.
const guestTime = 8 * time.Hour

func guestVerb() *Verb {
	return &Verb{
		Name: "guest", Group: "access", Parts: []string{"ls", "narrow", "revoke"},
		Synopsis: "[--role R] [--name N] [--sessions P,..] [--verbs V,..] [--from NET,..] [--for D] -|KEY | ls | narrow SERIAL [--role R] [--sessions P,..] [--verbs V,..] [--for D] | revoke SERIAL",
		Short:    "issue a temporary SSH certificate for a public key, to put next to the key",
		Examples: []Example{
			{"guest ls", "the certificates that were issued"},
			{`guest --role viewer --for 1h "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB8Vr1KxZpfP3eZ9VY2YxH1n7ZbQmYqzWkqC0m6D3f5T ann@laptop"`, "an hour of looking, for a key"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: -1, Answer: LetIn{}, Run: guest, Flags: grantFlags,
		Others: map[string]any{"ls": []keys.Guest{}, "narrow": keys.Guest{}, "revoke": keys.Guest{}},
	}
}

// LetIn is the answer of guest: the guest and its certificate.
type LetIn struct {
	keys.Guest
	Certificate string `json:"certificate"` // a line for KEY-cert.pub
}

// narrowing are the options that narrow a guest's rights.
var narrowing = []string{"role", "sessions", "verbs", "for"}

func guest(_ context.Context, c *Call) error {
	args := c.Args[1:]
	has := []string{"role", "name", "sessions", "verbs", "from", "for"}
	switch c.Args[0] {
	case "narrow":
		has = narrowing
	case "ls", "revoke":
		has = nil
	}
	if err := c.checkGrant(Lookup("guest"), has...); err != nil {
		return err
	}
	switch what := c.Args[0]; {
	case what == "ls" && len(args) == 0:
		return c.guestList()
	case what == "narrow" && len(args) == 1:
		return c.guestChange(args[0], c.narrow)
	case what == "revoke" && len(args) == 1:
		return c.guestChange(args[0], func(g *keys.Guest) error {
			g.Revoked = api.At(c.Now().UTC())
			return nil
		})
	case what == "ls" || what == "narrow" || what == "revoke":
		return Lookup("guest").usage(errors.New("narrow and revoke take a serial: guest ls lists the serials"))
	}
	return c.letIn()
}

func (c *Call) letIn() error {
	key, comment, err := c.publicKey(c.Args)
	if err != nil {
		return err
	}
	g := keys.Guest{Name: comment, Role: "viewer", Sessions: []string{}, Verbs: []string{}, By: c.Identity().Name}
	if c.flags.Changed("role") {
		g.Role, _ = c.flags.GetString("role")
	}
	if name, _ := c.flags.GetString("name"); name != "" {
		g.Name = name
	}
	if g.Name == "" {
		return Lookup("guest").usage(errors.New("the key has no comment: name the guest with --name"))
	}
	if c.flags.Changed("sessions") {
		g.Sessions, _ = c.flags.GetStringSlice("sessions")
	}
	if c.flags.Changed("verbs") {
		g.Verbs, _ = c.flags.GetStringSlice("verbs")
	}
	g.From, _ = c.flags.GetString("from")
	until, err := c.until()
	if err != nil {
		return err
	}
	if until.IsZero() {
		until = c.Now().Add(guestTime)
	}
	g.Expires = api.At(until)
	g, cert, err := c.Keys.AddGuest(key, g)
	if err != nil {
		return guestError(err)
	}
	line := strings.TrimSpace(string(gossh.MarshalAuthorizedKey(cert))) + " guest:" + g.Name
	return c.answer(LetIn{g, line}, func(w io.Writer) { fmt.Fprintln(w, line) })
}

// guestError gives the caller the errors that it can correct, and logs the others.
func guestError(err error) error {
	switch {
	case errors.Is(err, keys.ErrNoGuest):
		return api.Errorf(api.CodeNotFound, "%w: guest ls lists the guests", err)
	case errors.Is(err, keys.ErrGuest):
		return api.Errorf(api.CodeBadRequest, "%w", err)
	}
	return err
}

func (c *Call) guestList() error {
	list := emptyNotNull(c.Keys.Guests())
	return c.answer(list, func(w io.Writer) {
		rows := [][]string{{"SERIAL", "IDENTITY", "ROLE", "SESSIONS", "VERBS", "UNTIL", "BY", "STATE"}}
		for _, g := range list {
			state := "open"
			switch {
			case !g.Revoked.IsZero():
				state = "revoked"
			case !c.Now().Before(g.Expires.Time):
				state = "over"
			}
			rows = append(rows, []string{
				strconv.FormatUint(g.Serial, 10), "guest:" + g.Name, g.Role, orAny(g.Sessions), orAny(g.Verbs), g.Expires.UTC().Format(time.RFC3339), g.By, state,
			})
		}
		table(w, rows)
	})
}

func orAny(list []string) string {
	if len(list) == 0 {
		return "any"
	}
	return strings.Join(list, ",")
}

func (c *Call) narrow(g *keys.Guest) error {
	if !slices.ContainsFunc(narrowing, c.flags.Changed) {
		return Lookup("guest").usage(errors.New("narrow by --role, --sessions, --verbs or --for"))
	}
	var to keys.Guest
	to.Role, _ = c.flags.GetString("role")
	to.Sessions, _ = c.flags.GetStringSlice("sessions")
	to.Verbs, _ = c.flags.GetStringSlice("verbs")
	until, err := c.until()
	if err != nil {
		return err
	}
	if !until.IsZero() {
		to.Expires = api.At(until.UTC().Truncate(time.Second))
	}
	return g.Narrow(to)
}

func (c *Call) guestChange(word string, change func(*keys.Guest) error) error {
	serial, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		return Lookup("guest").usage(fmt.Errorf("%s isn't a valid serial", api.Quote(word)))
	}
	g, err := c.Keys.ChangeGuest(serial, change)
	if err != nil {
		return guestError(err)
	}
	return c.answer(g, func(w io.Writer) {
		if !g.Revoked.IsZero() {
			fmt.Fprintf(w, "guest:%s can no longer log in\n", g.Name)
			return
		}
		fmt.Fprintf(w, "guest:%s is %s of %s until %s\n", g.Name, g.Role, orAny(g.Sessions), g.Expires.UTC().Format(time.RFC3339))
	})
}
