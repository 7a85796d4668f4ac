package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/commands"
	"berth/config"
	"berth/fleet/gateway"
	"berth/fleet/invite"
	"berth/fleet/join"
	"berth/fleet/ledger"
	"berth/fleet/member"
	"berth/fleet/realm"
	"berth/fleet/registry"
	"berth/fleet/relay"
	"berth/keys"
	"berth/sshd"
	"berth/sshd/dispatch"
)

// fleet is the server's part in a fleet. One of the two is there.
type fleet struct {
	gateway *gateway.Gateway // nil: the server isn't a gateway
	member  *member.Member   // nil: it is one
}

// fleetProgram finds berth-fleet: the configured file, else the one next to this program.
func fleetProgram(given string) (string, error) {
	if given == "" {
		exe, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find berth's own binary: %w", err)
		}
		given = filepath.Join(filepath.Dir(exe), "berth-fleet")
	}
	if _, err := os.Stat(given); err != nil {
		return "", api.Errorf(api.CodeUsage, "berth-fleet, which a fleet's gateway runs, was not found at %s: install it next to berth, or name it with fleet.program", given)
	}
	if err := keys.CheckRun(given); err != nil {
		return "", fmt.Errorf("run berth-fleet: %w", err)
	}
	return given, nil
}

// openFleet reads the server's membership, before there are sessions whose callers came through a gateway.
func (s *server) openFleet() (err error) {
	if s.config.Fleet.IsGateway() {
		return nil
	}
	var public []gossh.PublicKey
	for _, k := range s.hostKeys {
		public = append(public, k.Signer.PublicKey())
	}
	s.fleet.member, err = member.New(member.Options{
		File: filepath.Join(s.config.StateDir, "fleet.json"), HostKeys: public, Keys: sshd.StoreKeys(s.keys), Log: s.log,
		Carry: func(l net.Listener, source sshd.KeySource) error { return s.edge.Carry(l, unrevoked{source, s.keys}) },
		Beat:  s.beat, Rows: s.rows, Events: func() ledger.Source { return s.sessions.Events() },
	})
	return err
}

// unrevoked are callers whose keys aren't revoked on this server, with a pass or without.
type unrevoked struct {
	sshd.KeySource
	store *keys.Store
}

// Lookup is the source's, unless the pass is revoked here.
func (u unrevoked) Lookup(key gossh.PublicKey, remote net.Addr, now time.Time) (keys.Identity, error) {
	id, err := u.KeySource.Lookup(key, remote, now)
	if err != nil {
		return id, err
	}
	if pass, ok := key.(*gossh.Certificate); ok && keys.IsPass(pass) {
		err = u.store.Current().CheckPass(pass, id.Fingerprint)
	}
	return id, err // a key of this server's own was looked up with its revocations
}

// Changed is closed when this server's revocations change. The source's own changes end its connections.
func (u unrevoked) Changed() <-chan struct{} { return u.store.Changed() }

// cluster reads the files of a fleet on a NATS cluster.
func cluster(c config.Fleet) (*gateway.Cluster, error) {
	out := &gateway.Cluster{URLs: c.NATS}
	text, err := c.ReadAccount()
	if err != nil {
		return nil, fmt.Errorf("read the key of the fleet's account: %w", err)
	}
	if out.Users, err = realm.Tenant(text); err != nil {
		return nil, api.Errorf(api.CodeUsage, "read the key of the fleet's account from %s: %w", c.NATSAccount, err)
	}
	if c.NATSCA == "" {
		return out, nil
	}
	data, err := os.ReadFile(c.NATSCA)
	if err == nil {
		out.Authorities, err = realm.Authorities(data)
	}
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "read the authority of the NATS cluster's certificates from %s: %w", c.NATSCA, err)
	}
	return out, nil
}

// startFleet starts the gateway, or the membership that the server has.
func (s *server) startFleet(ctx context.Context) (stop func(), err error) {
	c := s.config.Fleet
	if c.IsGateway() {
		o := gateway.Options{
			Dir: filepath.Join(s.config.StateDir, "fleet"), Listen: c.Listen, Address: c.Address, Name: c.HostName(), Key: s.hostKeys[0].Signer, Rights: s.rights, Events: s.sessions.Events(), Log: s.log, Now: time.Now,
		}
		if len(c.NATS) > 0 {
			if o.Cluster, err = cluster(c); err != nil {
				return nil, err
			}
			// Hosts of another account or of the gateway's own NATS server aren't hosts of this fleet.
			o.Dir = filepath.Join(o.Dir, o.Cluster.Users.Account())
		} else if o.Program, err = fleetProgram(c.Program); err != nil {
			return nil, err
		}
		if s.fleet.gateway, err = gateway.Start(o); err != nil {
			return nil, err
		}
		s.log.Info("this server is a fleet's gateway", "listen", s.fleet.gateway.Addr(), "name", c.HostName())
		return s.fleet.gateway.Close, nil
	}
	if err := s.fleet.member.Start(); err != nil {
		return nil, err
	}
	if _, _, in := s.fleet.member.Status(); !in && c.Join != "" {
		if _, err := s.fleet.member.Join(ctx, c.Join, keys.Operator); err != nil {
			s.log.Error("the server couldn't join the fleet of fleet.join, and isn't in a fleet", "error", err)
		}
	}
	return s.fleet.member.Close, nil
}

// rows are the sessions as the fleet's gateway knows them, and the ids of those whose first message isn't taken.
func (s *server) rows() (rows []api.Session, pending []string) {
	rows, pending = []api.Session{}, []string{}
	for _, one := range s.sessions.All() {
		status := one.Status()
		if rows = append(rows, status.Row()); status.FirstPending {
			pending = append(pending, status.ID)
		}
	}
	return rows, pending
}

// beat is what the gateway hears of this host every 2 s.
func (s *server) beat() registry.Beat {
	b := registry.Beat{Version: api.ThisBuild().Version, Labels: s.config.Fleet.Labels}
	for _, one := range s.sessions.All() {
		if one.Status().Running() {
			b.Running++
		}
	}
	return b
}

// fleetVerbs is what the verb fleet does.
func (s *server) fleetVerbs() commands.Fleet {
	if s.config.Fleet.IsGateway() {
		gatewayAlone := func() error {
			return api.Errorf(api.CodeBadRequest, "this server is a fleet's gateway, and joins none: remove fleet.listen or fleet.nats from its berth.yaml first")
		}
		return commands.Fleet{
			Hosts: s.fleetHosts, Invite: s.fleetInvite, Remove: func(name string) error { return s.fleet.gateway.Remove(name) },
			Drain: func(name string, on bool) error { return s.fleet.gateway.Drain(name, on) },
			Join: func(context.Context, string, keys.Role) (commands.FleetMember, error) {
				return commands.FleetMember{}, gatewayAlone()
			},
			Leave: func() (commands.FleetMember, error) { return commands.FleetMember{}, gatewayAlone() },
			Name:  s.config.Fleet.HostName, Known: func() []registry.Host { return s.fleet.gateway.Known() },
			Own: func() registry.Host {
				return registry.Host{Name: s.config.Fleet.HostName(), Reachable: true, Beat: s.beat()}
			},
			Host:   func(name string) (registry.Host, bool) { return s.fleet.gateway.Host(name) },
			Follow: func(since uint64) commands.FleetEvents { return s.fleet.gateway.Events(since) },
			Head:   func() uint64 { return s.fleet.gateway.EventsHead() },
		}
	}
	return commands.Fleet{
		Join: func(ctx context.Context, token string, most keys.Role) (commands.FleetMember, error) {
			m, err := s.fleet.member.Join(ctx, token, most)
			return membership(m), err
		},
		Leave: func() (commands.FleetMember, error) {
			m, err := s.fleet.member.Leave()
			return membership(m), err
		},
		Name: func() string {
			m, _, _ := s.fleet.member.Status()
			return m.Name
		},
		Self: func() (commands.FleetMember, bool, error) {
			m, connected, in := s.fleet.member.Status()
			if !in {
				return commands.FleetMember{}, false, api.Errorf(api.CodeNotFound, "this server is in no fleet: fleet join TOKEN joins one, and fleet.listen in berth.yaml makes it a gateway")
			}
			return membership(m), connected, nil
		},
	}
}

func membership(m join.Membership) commands.FleetMember {
	return commands.FleetMember{Host: m.Name, Gateway: m.Address, MaxRole: m.MaxRole}
}

func (s *server) fleetInvite(name, by string) (commands.FleetInvite, error) {
	t, err := s.fleet.gateway.Invite(name, by)
	if err != nil {
		return commands.FleetInvite{}, err
	}
	return commands.FleetInvite{Host: name, Token: t.String(), Command: "berth fleet join " + t.String(), Expires: api.At(time.Now().Add(invite.Life))}, nil
}

func (s *server) fleetHosts(context.Context) ([]commands.FleetHost, error) {
	hosts, err := s.fleet.gateway.Hosts()
	if err != nil {
		return nil, err
	}
	rows := []commands.FleetHost{{Host: s.config.Fleet.HostName(), Gateway: true, Reachable: true, Since: api.At(s.started), HostKeys: fingerprints(s.hostKeys)}}
	known := map[string]registry.Host{}
	for _, h := range s.fleet.gateway.Known() {
		known[h.Name] = h
	}
	for _, h := range hosts {
		now := known[h.Name]
		row := commands.FleetHost{Host: h.Name, Reachable: now.Reachable, Draining: h.Draining, Since: api.At(now.Since), Joined: api.At(h.Joined), HostKeys: []string{}}
		for _, line := range h.HostKeys {
			if key, _, _, _, err := gossh.ParseAuthorizedKey([]byte(line)); err == nil {
				row.HostKeys = append(row.HostKeys, gossh.FingerprintSHA256(key))
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// reach is a gateway's way to its hosts; nil on another server.
func (s *server) reach() dispatch.Reach {
	if !s.config.Fleet.IsGateway() {
		return nil
	}
	return func(ctx context.Context, host string, person keys.Identity) (*gossh.Client, error) {
		client, err := s.fleet.gateway.Client(ctx, host, person)
		switch {
		case err == nil:
			return client, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, api.Errorf(api.CodeNotFound, "there is no host %s: fleet ls lists the hosts", api.Quote(host)).With("host", host)
		case errors.Is(err, keys.ErrNoVouch):
			return nil, api.Errorf(api.CodeDenied, "%w", err).With("host", host)
		case errors.Is(err, relay.ErrHostKey):
			s.log.Warn("a host of the fleet proves another key", "host", host, "identity", person.Name, "error", err)
			return nil, api.Errorf(api.CodeDenied, "%s may not be the machine that joined: %w", host, err).With("host", host)
		case errors.Is(err, relay.ErrUnreachable):
			return nil, s.unreachable(host)
		}
		s.log.Warn("a host of the fleet refused a caller", "host", host, "identity", person.Name, "error", err)
		return nil, api.Errorf(api.CodeDenied, "%s refused the login: its log says why, such as a clock that is minutes off", host).With("host", host)
	}
}

// forward is a gateway's way to its hosts for ssh -J; nil on another server.
func (s *server) forward() *sshd.Forward {
	if !s.config.Fleet.IsGateway() {
		return nil
	}
	return &sshd.Forward{
		Allowed: keys.Identity.MayForward,
		Dial: func(ctx context.Context, host string) (net.Conn, error) {
			conn, err := s.fleet.gateway.Dial(ctx, host)
			if err != nil && api.AsError(err).Code == api.CodeInternal {
				return nil, s.unreachable(host)
			}
			return conn, err
		},
	}
}

// unreachable is the error about a host that doesn't answer.
func (s *server) unreachable(host string) error {
	text := ""
	for _, h := range s.fleet.gateway.Known() {
		if h.Name == host && !h.Since.IsZero() && !h.Reachable {
			text = fmt.Sprintf("; it was last seen at %s", h.Since.UTC().Format(time.RFC3339))
		}
	}
	return api.Errorf(api.CodeUnreachable, "%s can't be reached now%s: its sessions go on there. Try again, or look at the host", host, text).With("host", host)
}

func fingerprints(list []keys.HostKey) []string {
	out := []string{}
	for _, k := range list {
		out = append(out, gossh.FingerprintSHA256(k.Signer.PublicKey()))
	}
	return out
}

// passRights are the rights now of a caller that came with a pass; ok is false for any other certificate.
func (s *server) passRights(wire []byte) (id keys.Identity, ok bool, err error) {
	key, err := gossh.ParsePublicKey(wire)
	cert, is := key.(*gossh.Certificate)
	if err != nil || !is || !keys.IsPass(cert) {
		return id, false, nil
	}
	if s.fleet.member == nil {
		return id, true, errors.New("this server isn't a fleet's host any more")
	}
	if id, err = s.fleet.member.Person(cert); err == nil {
		err = s.keys.Current().CheckPass(cert, id.Fingerprint)
	}
	if err == nil {
		id, err = s.fleet.member.Rights(cert)
	}
	return id, true, err
}
