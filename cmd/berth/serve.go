package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	gossh "golang.org/x/crypto/ssh"

	"berth/agent/generic/rules"
	"berth/audit"
	"berth/audit/follow"
	"berth/audit/ship"
	"berth/commands"
	"berth/config"
	"berth/keys"
	"berth/metrics"
	"berth/sessions"
	"berth/sessions/account"
	"berth/sessions/cgroup"
	"berth/sessions/hold"
	"berth/sessions/notify/post"
	"berth/sshd"
	"berth/sshd/dispatch"
)

func serveCommand() *cobra.Command {
	var file string
	var o serveOptions
	cmd := &cobra.Command{
		Use: "serve", Short: "start the server", Args: cobra.NoArgs,
		Long: "Start the server. Every option is also a field of berth.yaml (dashes are underscores, the first\n" +
			"part of limits- and retention- options is a section) and a variable BERTH_* of the environment.",
	}
	cmd.Flags().StringVar(&file, "config", "", "berth.yaml to read")
	cmd.Flags().BoolVar(&o.ownKeys, "own-keys", false, "admit your own public keys, or a new key pair if you have none")
	cmd.Flags().BoolVar(&o.demo, "demo", false, "as own-keys; keep a session demo, and print what to try")
	given := configFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		hangups := make(chan os.Signal, 1) // several in a row count as one
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
		source := config.Source{Path: file, Environ: os.Environ(), Flags: given()}
		c, err := config.Load(source)
		if err != nil {
			return err
		}
		source.Path = c.File // even if a file appears in a place that is searched first
		return serve(cmd.Context(), c, source, o, hangups)
	}
	return cmd
}

// serveOptions are the options that aren't fields of berth.yaml.
type serveOptions struct{ ownKeys, demo bool }

func logger(c *config.Config, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

// server is what serve sets up.
type server struct {
	config      *config.Config                // as read at the start
	now         atomic.Pointer[config.Config] // with later reloads
	specs       atomic.Pointer[commands.Specs]
	profiles    profileStore
	level       slog.LevelVar
	poster      atomic.Pointer[post.Poster]
	log         *slog.Logger
	keys        *keys.Store
	hostKeys    []keys.HostKey
	audit       *audit.Log
	shipper     *ship.Shipper // nil: the audit log isn't shipped
	sessions    *sessions.Registry
	edge        *sshd.Server
	metrics     *metrics.Metrics
	fleet       fleet
	cgroups     *cgroup.Tree
	userSockets *userSockets
	ruleset     *rules.Ruleset // of the current configuration
	reloads     chan reloadCall
	started     time.Time
}

// serve runs the server until ctx ends.
func serve(ctx context.Context, c *config.Config, source config.Source, o serveOptions, hangups <-chan os.Signal) (err error) {
	s := &server{config: c, started: time.Now(), reloads: make(chan reloadCall)}
	loaded := *c
	s.now.Store(&loaded)
	s.level.Set(c.Level())
	s.log = logger(c, &s.level)
	// The heap grows with what is on screens, not with traffic: a reserve smaller than Go's default
	// keeps 100 sessions small.
	debug.SetGCPercent(50)
	lock, err := config.LockState(c.StateDir)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if err := config.MigrateState(c.StateDir); err != nil {
		return err
	}
	if err := config.MakeRuntimeDir(c.RuntimeDir); err != nil {
		return err
	}
	for _, n := range c.Notices {
		s.log.Warn(n.String())
	}
	if o.ownKeys || o.demo {
		if err := admitOwn(c); err != nil {
			return err
		}
	}
	if err := s.openKeys(); err != nil {
		return err
	}
	if err := s.loadHostKeys(); err != nil {
		return err
	}
	if err := s.openFleet(); err != nil {
		return err
	}
	if err := s.openAudit(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.audit.Close()) }()
	watching, unwatch := context.WithCancel(context.Background())
	defer unwatch()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if err := s.keys.Watch(watching); err != nil && watching.Err() == nil {
			s.log.Error("the key files are no longer watched", "error", err)
		}
	}()
	followed := make(chan struct{})
	go func() { defer close(followed); s.followKeys(watching) }()
	defer func() { unwatch(); <-watched; <-followed }()
	if err := s.openSessions(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.sessions.Close()) }()
	follower := follow.Start(s.audit, s.sessions.Events(), s.log)
	defer follower.Close()
	if err := s.startShipper(); err != nil {
		return err
	}
	defer func() {
		if s.shipper != nil {
			s.shipper.Close()
		}
	}()
	s.openMetrics()
	defer s.metrics.Close()
	if err := s.listen(); err != nil {
		return err
	}
	stopMetrics, err := s.serveMetrics()
	if err != nil {
		return errors.Join(err, s.edge.Shutdown(context.Background()))
	}
	defer stopMetrics()
	stopFleet, err := s.startFleet(ctx)
	if err != nil {
		return errors.Join(err, s.edge.Shutdown(context.Background()))
	}
	defer stopFleet()
	if err := s.writeClient(); err != nil {
		s.log.Warn("the ssh_config for clients on this machine could not be written", "error", err)
	}
	if err := lock.Publish(c.RuntimeDir); err != nil {
		return errors.Join(fmt.Errorf("write the socket's path: %w", err), s.edge.Shutdown(context.Background()))
	}
	_, _ = s.followConfig(ctx) // before any notification by its rules
	s.startPoster()
	defer func() { s.poster.Load().Close() }()
	s.startSessions(ctx)
	stopFollowing := s.followFiles(source, hangups)
	defer stopFollowing()
	fmt.Printf("listening on %s\n", s.edge.Addr())
	if o.demo {
		if err := s.beginDemo(ctx); err != nil {
			return errors.Join(err, s.edge.Shutdown(context.Background()))
		}
	}
	err = s.edge.Serve(ctx)
	if s.now.Load().StopSessions {
		s.log.Info("ending the sessions")
		err = errors.Join(err, s.sessions.EndAll(context.Background(), server0))
	}
	return err
}

// server0 is the server itself as an actor.
var server0 = sessions.Actor{Identity: keys.Identity{Name: "berth"}}

func (s *server) openKeys() (err error) {
	s.keys, err = keys.OpenStore(keys.StoreOptions{
		Files: s.config.AuthorizedKeys, Authorize: s.config.Authorize, Revoked: s.config.RevokedKeys,
		Guests: filepath.Join(s.config.StateDir, "guests.json"), GuestAuthority: filepath.Join(s.config.StateDir, "guest_authority"),
		Problems: func(list []keys.Problem) {
			for _, p := range list {
				s.tellKeyProblem(p)
			}
		},
	})
	if err != nil {
		return err
	}
	if s.keys.Empty() {
		return fmt.Errorf("no key may log in: put a public key into %s, or name one with --authorize FILE.pub", s.config.AuthorizedKeys[0])
	}
	return nil
}

// tellKeyProblem logs a problem in a key file: a line that admits no key is a warning, a line
// that only grants less than it says isn't. A file that isn't there is for
// debugging: the server doesn't start without any key.
func (s *server) tellKeyProblem(p keys.Problem) {
	level := slog.LevelWarn
	switch p.Kind {
	case keys.Notice:
		level = slog.LevelInfo
	case keys.Absent:
		level = slog.LevelDebug
	}
	s.log.Log(context.Background(), level, "key file", "problem", p.String())
}

func (s *server) openSessions(ctx context.Context) error {
	own := config.CurrentAccount()
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find berth's own binary: %w", err)
	}
	holder, err := holderBinary(s.config.Hold)
	if err != nil {
		return err
	}
	if err := keys.CheckRun(holder); err != nil {
		return fmt.Errorf("run %s: %w", hold.HookBinary, err)
	}
	if err := hold.CheckProgram(ctx, holder); err != nil {
		return err
	}
	if s.ruleset, err = rules.Compile(s.config.Rules, nil); err != nil {
		return err
	}
	ask := func(ctx context.Context, who config.Account) ([]string, error) {
		return config.LoginEnv(ctx, holder, who)
	}
	shells := &logins{ctx: ctx, log: s.log, ask: ask, now: time.Now, known: map[string]*login{}}
	shells.of(nil, false) // now, so that no session waits for it
	s.userSockets = &userSockets{dir: s.config.RuntimeDir}
	account.ShutInherited()
	s.cgroups = cgroup.Open(os.Getenv, func(path string) error { return hold.CheckCgroup(ctx, holder, path) })
	s.log.Debug("cgroups", "of_sessions", s.cgroups.String())
	if err := s.cgroups.Check(limitsOf(s.config)); err != nil {
		s.log.Warn("limits of the configuration can't be kept, so sessions with them don't start: doctor, over SSH, says more", "error", err)
	}
	s.sessions, err = sessions.Open(ctx, sessions.Options{
		StateDir: s.config.StateDir, RuntimeDir: s.config.RuntimeDir, Exe: holder, Berth: exe, Log: s.log, Now: time.Now,
		Environment: sessions.Environment{
			Login: shells.of, Server: os.LookupEnv, ReadFile: config.LoadEnvFile, Redact: config.RedactMap,
			Socket: filepath.Join(s.config.RuntimeDir, socketName), Home: own.Home, User: own.Name, Shell: own.Shell,
			Account: account.Lookup, AccountSocket: s.userSockets.open,
		},
		Retention: settingsOf(s.config).Retention,
		Cgroups:   s.cgroups, Worktrees: s.config.Worktrees, Clipboard: settingsOf(s.config).Clipboard, Drivers: driversWith(s.ruleset), Rights: s.rightsTo,
	})
	return err
}

// settingsOf are the settings of sessions that a reload may change.
func settingsOf(c *config.Config) sessions.Settings {
	return sessions.Settings{
		Retention: sessions.Retention{Ended: c.Retention.Ended, Keep: c.Retention.Keep, Total: int64(c.Retention.Total), Transcripts: int64(c.Retention.Transcripts)},
		Worktrees: c.Worktrees, Clipboard: clipboards[c.Clipboard],
	}
}

// clipboards are the values of the field clipboard.
var clipboards = map[config.Clipboard]sessions.ClipboardPolicy{
	config.ClipboardOff: sessions.ClipboardOff, config.ClipboardWriter: sessions.ClipboardWriter, config.ClipboardAll: sessions.ClipboardAll,
}

// rights are the current rights of a caller that was identified before. A process of the
// server's own user has the configured local role.
func (s *server) rights(id keys.Identity) (keys.Identity, error) {
	switch id.Kind {
	case keys.KindKey:
		if id.Certificate != nil {
			if id, is, err := s.passRights(id.Certificate); is {
				return id, err
			}
			return s.keys.Current().ByCertificate(id.Certificate, id.Source, time.Now())
		}
		return s.keys.Current().ByFingerprint(id.Fingerprint, id.Source, time.Now())
	case keys.KindLocal:
		id.Role = s.config.LocalRole()
		return id, nil
	}
	return keys.Identity{}, fmt.Errorf("%s has no rights of its own", id.Name)
}

// rightsTo are the rights of such a caller to something of a verb that it has left, such as a queued message.
func (s *server) rightsTo(id keys.Identity, verb string) (keys.Identity, error) {
	now, err := s.rights(id)
	if err == nil {
		err = commands.Forced(now, verb)
	}
	return now, err
}

func (s *server) loadHostKeys() (err error) {
	paths := s.config.HostKeys
	if len(paths) == 0 {
		paths = keys.HostKeyPaths(s.config.StateDir)
	}
	s.hostKeys, err = keys.LoadOrCreateHostKeys(paths...)
	return err
}

// listen opens the SSH edge and connects it to the verbs.
func (s *server) listen() error {
	var signers []gossh.Signer
	for _, k := range s.hostKeys {
		signers = append(signers, k.Signer)
	}
	specs, err := specsOf(s.config)
	if err != nil {
		return err
	}
	s.specs.Store(specs)
	s.profiles.files.Dir = filepath.Join(s.config.StateDir, "profiles")
	s.loadProfiles()
	service := &commands.Service{
		Sessions: s.sessions, Specs: s.specs.Load, Document: s.document, Profiles: s.profileVerbs(), OnlyProfiles: func() bool { return s.now.Load().New == config.NewProfiles }, Started: s.started, Now: time.Now, Log: s.log,
		MaxInput: int64(s.config.Limits.InputBytes), Edge: s.edgeHealth, Audit: s.audit, Shipped: s.shipped, Keys: s.keys, Notify: s.notify(), Fleet: s.fleetVerbs(), Doctor: s.doctor,
		Reload: s.askReload, Level: &s.level, ConfiguredLevel: func() slog.Level { return s.now.Load().Level() }, Metrics: s.metrics.Write,
	}
	d := &dispatch.Dispatcher{Commands: service, Reach: s.reach(), Prefixes: func() string { return s.now.Load().Prefixes() }, Address: s.address, Echoed: s.metrics.Echoed, Log: s.log,
		Choices: dispatch.LoadChoices(filepath.Join(s.config.StateDir, "choices.json"), s.log)}
	l := s.config.Limits
	exempt, err := l.Exempt()
	if err != nil {
		return err
	}
	s.edge, err = sshd.New(sshd.Options{
		Listen: []string{s.config.Listen}, Socket: filepath.Join(s.config.RuntimeDir, socketName), HostKeys: signers,
		Keys: sshd.StoreKeys(s.keys), Handler: d.Handler(), Forward: s.forward(), Holders: s.holders, AgentOf: s.agentOf, Local: s.config.LocalRole(), Log: s.log, Now: time.Now, Audit: s.login,
		Limits: sshd.Limits{
			Startups: l.MaxStartups, StartupsPerSource: l.PerSource, LoginGrace: l.LoginGrace, AuthTries: l.MaxAuthTries, Channels: l.ChannelsPerConnection,
			EnvBytes: int(l.EnvBytes), CommandBytes: int(l.CommandBytes), Verbs: float64(l.VerbsPerSecond), Logins: float64(l.LoginsPerSecond), Connections: l.Connections,
			Share: l.CallerConnections, ShareChannels: l.CallerChannels, ShareUnread: int64(l.CallerUnread),
			Penalties: sshd.Penalties{Refused: l.Penalty, From: l.PenaltyFrom, Most: l.PenaltyMost, Exempt: exempt},
		},
	})
	if err != nil {
		return err
	}
	s.openUserSockets()
	return nil
}

// address is how a client writes this server's address after ssh: the configured one, else the
// one that the server listens on.
func (s *server) address() string {
	public := s.now.Load().PublicHost
	if public == "" {
		return address(s.edge.Addr())
	}
	host, port, err := net.SplitHostPort(public)
	if err != nil {
		host, port = public, "22"
	}
	if port == "22" {
		return "agents@" + host
	}
	return "-p " + port + " agents@" + host
}

// address is how a client on this machine writes it.
func address(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return "agents@localhost"
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "localhost"
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	if tcp.Port == 22 {
		return "agents@" + host
	}
	return fmt.Sprintf("-p %d agents@%s", tcp.Port, host)
}
