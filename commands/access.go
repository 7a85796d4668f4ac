package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/keys"
)

func accessVerb() *Verb {
	return &Verb{
		Name: "access", Group: "access", Parts: []string{"ls", "add", "rm", "test"},
		Synopsis: "ls | add --role R [--name N] [--sessions P,..] [--verbs V,..] [--from NET,..] [--for D] -|KEY | rm KEY [--last] | test KEY VERB [S] [--from ADDRESS]",
		Short:    "who may log in, and what they may; KEY is a fingerprint, a name, or the line of a .pub file (- reads it)",
		Examples: []Example{
			{"access ls", "who may log in"},
			{`access add --role operator --name ann "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB8Vr1KxZpfP3eZ9VY2YxH1n7ZbQmYqzWkqC0m6D3f5T ann@laptop"`, "let a key in"},
			{"access test ann nudge alpha", "may ann do that?"},
			{"access rm ann", "remove the key"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: -1, Answer: []Access{}, Run: access,
		Others: map[string]any{"ls": []Access{}, "add": Access{}, "rm": []Access{}, "test": Tested{}},
		Flags: func(f *pflag.FlagSet) {
			grantFlags(f)
			f.Lookup("role").Usage = "viewer, responder, operator or admin"
			f.Lookup("from").Usage += "; of test: from where"
			f.Bool("last", false, "remove the key even if it is the last admin's")
		},
	}
}

// grantFlags are the options for the rights to give.
func grantFlags(f *pflag.FlagSet) {
	f.String("role", "", "viewer, responder or operator")
	f.String("name", "", "the name shown to others; else the key's comment")
	f.StringSlice("sessions", nil, "only sessions whose name matches, or tag:PATTERN")
	f.StringSlice("verbs", nil, "only these verbs")
	f.String("from", "", "only from these addresses and networks")
	f.String("for", "", "for this long, such as 8h or 30d")
}

// Access is a line of a key file, as access ls shows it.
type Access struct {
	Line        string   `json:"line"` // FILE:LINE
	Identity    string   `json:"identity"`
	Fingerprint string   `json:"fingerprint"`
	Role        string   `json:"role"`
	Sessions    []string `json:"sessions"`
	Verbs       []string `json:"verbs"`
	From        string   `json:"from"`
	Expires     api.Time `json:"expires"`
	Command     bool     `json:"command"` // whether the line forces a command
	NoPTY       bool     `json:"no_pty"`
	Authority   bool     `json:"authority"`
	Principals  []string `json:"principals"`
	Revoked     bool     `json:"revoked"`
	Problem     *string  `json:"problem"` // why the line admits no key; all other fields but Line are then empty
}

// Tested is the answer of access test.
type Tested struct {
	Allowed  bool    `json:"allowed"`
	Identity *string `json:"identity"`
	Role     *string `json:"role"`
	Line     *string `json:"line"` // the line that decides
	Why      *string `json:"why"`  // not
}

// accessOptions are the options of each subcommand of access.
var accessOptions = map[string][]string{
	"add": {"role", "name", "sessions", "verbs", "from", "for"}, "rm": {"last"}, "test": {"from"},
}

func access(_ context.Context, c *Call) error {
	args := c.Args[1:]
	if err := c.checkGrant(Lookup("access"), accessOptions[c.Args[0]]...); err != nil {
		return err
	}
	switch what := c.Args[0]; {
	case what == "ls" && len(args) == 0:
		return c.accessList()
	case what == "add" && len(args) > 0:
		return c.accessAdd(args)
	case what == "rm" && len(args) == 1:
		return c.accessRemove(args[0])
	case what == "test" && len(args) >= 2:
		return c.accessTest(args)
	}
	return Lookup("access").usage(errors.New("choose ls, add, rm or test"))
}

func (c *Call) accessList() error {
	list := []Access{}
	for _, l := range c.Keys.Current().Lines() {
		list = append(list, shownAccess(l))
	}
	for _, p := range c.Keys.Problems() {
		if p.Kind == keys.Refused {
			why := strings.TrimSuffix(p.Text+"; "+p.Remedy, "; ")
			list = append(list, Access{Line: p.File + ":" + strconv.Itoa(p.Line), Sessions: []string{}, Verbs: []string{}, Principals: []string{}, Problem: &why})
		}
	}
	return c.answer(list, func(w io.Writer) {
		rows := [][]string{{"IDENTITY", "ROLE", "LIMITS", "KEY", "LINE"}}
		for _, a := range list {
			if a.Problem != nil {
				rows = append(rows, []string{"-", "nobody", *a.Problem, "-", a.Line})
				continue
			}
			rows = append(rows, []string{a.Identity, a.Role, a.limits(), a.Fingerprint, a.Line})
		}
		table(w, rows)
	})
}

func shownAccess(l keys.Line) Access {
	return Access{
		Line: l.Place(), Identity: l.Name, Fingerprint: l.Fingerprint, Role: l.Role.String(), Sessions: emptyNotNull(l.Sessions), Verbs: emptyNotNull(l.Verbs),
		From: l.From, Expires: api.At(l.Expires), Command: l.Command, NoPTY: l.NoPTY, Authority: l.Authority, Principals: emptyNotNull(l.Principals), Revoked: l.Revoked,
	}
}

// limits are what narrows the line, in words.
func (a Access) limits() string {
	var words []string
	add := func(when bool, word string) {
		if when {
			words = append(words, word)
		}
	}
	add(a.Revoked, "REVOKED")
	add(a.Authority, "authority of "+strings.Join(a.Principals, ","))
	add(len(a.Sessions) > 0, "sessions "+strings.Join(a.Sessions, ","))
	add(len(a.Verbs) > 0, "verbs "+strings.Join(a.Verbs, ","))
	add(a.From != "", "from "+a.From)
	add(!a.Expires.IsZero(), "until "+a.Expires.UTC().Format(time.RFC3339))
	add(a.Command, "forced command")
	add(a.NoPTY, "no terminal")
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, "; ")
}

func (c *Call) accessAdd(args []string) error {
	key, comment, err := c.publicKey(args)
	if err != nil {
		return err
	}
	if _, ok := key.(*gossh.Certificate); ok {
		return api.Errorf(api.CodeBadRequest, "this is a certificate: give the plain public key, or add its authority with an editor")
	}
	g := keys.Grant{Key: key, Name: comment}
	role, _ := c.flags.GetString("role")
	if g.Role, err = keys.ParseRole(role); err != nil {
		return Lookup("access").usage(fmt.Errorf("--role: %w", err))
	}
	if name, _ := c.flags.GetString("name"); name != "" {
		g.Name = name
	}
	g.Sessions, _ = c.flags.GetStringSlice("sessions")
	g.Verbs, _ = c.flags.GetStringSlice("verbs")
	g.From, _ = c.flags.GetString("from")
	if g.Expires, err = c.until(); err != nil {
		return err
	}
	line, err := c.Keys.Add(g)
	if err != nil {
		return api.Errorf(api.CodeBadRequest, "access add: %w", err)
	}
	added := shownAccess(line)
	return c.answer(added, func(w io.Writer) {
		fmt.Fprintf(w, "%s may log in as %s: %s\n", added.Identity, added.Role, added.Line)
	})
}

// until is the end of the time in --for; zero without --for.
func (c *Call) until() (time.Time, error) {
	text, _ := c.flags.GetString("for")
	if text == "" {
		return time.Time{}, nil
	}
	d, err := age(text)
	if err != nil || d <= 0 {
		return time.Time{}, api.Errorf(api.CodeUsage, "--for %s: write a time such as 45m, 8h or 30d", api.Quote(text))
	}
	return c.Now().Add(d), nil
}

// publicKey reads the line of a .pub file: as words, or from standard input.
func (c *Call) publicKey(words []string) (gossh.PublicKey, string, error) {
	text := strings.Join(words, " ")
	if text == "-" {
		const most = 64 << 10
		data, err := io.ReadAll(io.LimitReader(c.In, most+1))
		if err != nil {
			return nil, "", fmt.Errorf("read standard input: %w", err)
		}
		if len(data) > most {
			return nil, "", api.Errorf(api.CodeLimit, "standard input is longer than a public key: nothing was changed")
		}
		if err := c.stillAllowed(); err != nil {
			return nil, "", err
		}
		text = string(data)
	}
	key, comment, err := keys.ParsePublic(text)
	if err != nil {
		return nil, "", api.Errorf(api.CodeBadRequest, "the public key: %w", err)
	}
	return key, comment, nil
}

func (c *Call) accessRemove(word string) error {
	fingerprint, err := c.keyNamed(word)
	if err != nil {
		return err
	}
	last, _ := c.flags.GetBool("last")
	lines, err := c.Keys.Remove(fingerprint, last)
	if errors.Is(err, keys.ErrLastAdmin) {
		return api.Errorf(api.CodeBadRequest, "%s is the last admin's key. Without it, access can only be changed on the server itself. Add --last to remove it anyway", word)
	}
	if err != nil {
		return api.Errorf(api.CodeBadRequest, "access rm: %w", err)
	}
	gone := []Access{}
	for _, l := range lines {
		gone = append(gone, shownAccess(l))
	}
	return c.answer(gone, func(w io.Writer) {
		for _, a := range gone {
			fmt.Fprintf(w, "%s can no longer log in: %s was removed\n", a.Identity, a.Line)
		}
	})
}

// keyNamed finds the only key that a word names.
func (c *Call) keyNamed(word string) (string, error) {
	switch list := c.Keys.Current().Named(word); len(list) {
	case 0:
		return "", api.Errorf(api.CodeNotFound, "no key file has the key %s: access ls lists the keys", api.Quote(word))
	case 1:
		return list[0], nil
	default:
		return "", api.Errorf(api.CodeBadRequest, "%d keys have the name %s: give the fingerprint of one, %s", len(list), api.Quote(word), strings.Join(list, " or "))
	}
}

// accessTest answers as the server would if a key asked for a verb now.
func (c *Call) accessTest(args []string) error {
	name, _ := c.flags.GetString("from")
	var remote net.Addr
	if name != "" {
		ip, err := netip.ParseAddr(name)
		if err != nil {
			return Lookup("access").usage(fmt.Errorf("--from: %s isn't a valid address", api.Quote(name)))
		}
		remote = net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip, 0))
	}
	id, rest, err := c.wouldBe(args, remote)
	if err != nil {
		var refused *api.Error
		if errors.As(err, &refused) {
			return err
		}
		return c.tested(keys.Identity{}, err)
	}
	verb := Lookup(rest[0])
	if verb == nil {
		return unknownVerb(rest[0])
	}
	if err := id.May(verb.Name, verb.Need); err != nil {
		return c.tested(id, err)
	}
	if err := Forced(id, verb.Name); err != nil {
		return c.tested(id, err)
	}
	if len(rest) > 1 {
		s, ok := c.Sessions.Find(rest[1])
		if !ok {
			return api.Errorf(api.CodeNotFound, "there is no session %s: ls lists the sessions", api.Quote(rest[1]))
		}
		if st := s.Status(); !id.Sees(st.Name, st.Tags) {
			return c.tested(id, id.Denied(verb.Name, st.Name))
		}
	}
	return c.tested(id, nil)
}

// Forced is nil if a caller's forced command, where it has one, is of the verb.
func Forced(id keys.Identity, verb string) error {
	if id.Command == "" || VerbOf(id.Command) == verb {
		return nil
	}
	return errors.New("the key's command= replaces what is asked for, and names another verb")
}

// wouldBe is the identity that the key in the first words would get, and the words
// after the key: a verb and perhaps a session.
func (c *Call) wouldBe(args []string, remote net.Addr) (keys.Identity, []string, error) {
	set, now := c.Keys.Current(), c.Now()
	split := 1
	if keys.BeginsKey(args[0]) {
		split = min(2, len(args)) // its type, and the key
	}
	rest := args[split:]
	if len(rest) == 0 || len(rest) > 2 {
		return keys.Identity{}, nil, Lookup("access").usage(errors.New("after the key, give a verb, and optionally a session"))
	}
	if args[0] != "-" && !keys.BeginsKey(args[0]) {
		fingerprint, err := c.keyNamed(args[0])
		if err != nil {
			return keys.Identity{}, nil, err
		}
		id, err := set.ByFingerprint(fingerprint, addressText(remote), now)
		return id, rest, err
	}
	key, _, err := c.publicKey(args[:split])
	if err != nil {
		return keys.Identity{}, nil, err
	}
	id, err := set.Lookup(key, remote, now)
	return id, rest, err
}

func addressText(a net.Addr) string {
	if a == nil {
		return ""
	}
	return a.String()
}

func (c *Call) tested(id keys.Identity, refused error) error {
	t := Tested{Allowed: refused == nil}
	if id.Role != keys.None {
		role := id.Role.String()
		t.Identity, t.Role, t.Line = &id.Name, &role, &id.Line
	}
	if refused != nil {
		why := refused.Error()
		t.Why = &why
	}
	err := c.answer(t, func(w io.Writer) {
		if t.Allowed {
			fmt.Fprintf(w, "yes: %s is %s by %s\n", *t.Identity, *t.Role, *t.Line)
			return
		}
		fmt.Fprintf(w, "no: %s\n", *t.Why)
	})
	if err == nil && refused != nil {
		return statusError(api.CodeDenied.Status())
	}
	return err
}
