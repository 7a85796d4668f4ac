package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	gossh "golang.org/x/crypto/ssh"

	"berth/commands"
	"berth/config"
	"berth/keys"
	"berth/sessions"
	"berth/sshd"
	"berth/sshd/dispatch"
)

func serveCommand() *cobra.Command {
	var file string
	var demo bool
	cmd := &cobra.Command{
		Use: "serve", Short: "start the server", Args: cobra.NoArgs,
		Long: "Start the server. Every option is also a field of berth.yaml (dashes are underscores, the first\n" +
			"part of limits- and retention- options is a section) and a variable BERTH_* of the environment.",
	}
	cmd.Flags().StringVar(&file, "config", "", "berth.yaml to read")
	cmd.Flags().BoolVar(&demo, "demo", false, "let in your own public keys, keep a session demo, and print how to try it")
	given := configFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := config.Load(config.Source{Path: file, Environ: os.Environ(), Flags: given(cmd.Flags())})
		if err != nil {
			return err
		}
		return serve(cmd.Context(), c, demo)
	}
	return cmd
}

// flagOf are flags whose names are not the field's.
var flagOf = map[string]string{"host_keys": "host-key"}

// configFlags makes a flag of every settable field. What it returns lists
// those that were given.
func configFlags(flags *pflag.FlagSet) func(*pflag.FlagSet) []config.Setting {
	names := map[string]string{}
	for _, field := range config.Settable() {
		name := config.FlagName(field)[2:]
		if n, ok := flagOf[field]; ok {
			name = n
		}
		names[name] = field
		flags.StringArray(name, nil, "sets "+field)
		if field == "stop_sessions" || field == "clipboard" {
			flags.Lookup(name).NoOptDefVal = "true"
		}
	}
	return func(flags *pflag.FlagSet) []config.Setting {
		var out []config.Setting
		flags.Visit(func(f *pflag.Flag) {
			if field, ok := names[f.Name]; ok {
				values, _ := flags.GetStringArray(f.Name)
				for _, v := range values {
					out = append(out, config.Setting{Field: field, Value: v})
				}
			}
		})
		return out
	}
}

func logger(c *config.Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level()}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

// server is what serve puts together.
type server struct {
	config   *config.Config
	log      *slog.Logger
	keys     *keys.Store
	sessions *sessions.Registry
	edge     *sshd.Server
	started  time.Time
}

// serve runs the server until ctx ends.
func serve(ctx context.Context, c *config.Config, demo bool) (err error) {
	s := &server{config: c, log: logger(c), started: time.Now()}
	// The heap grows with what is on screens, not with traffic: a smaller
	// reserve than Go's default keeps 100 sessions small.
	debug.SetGCPercent(50)
	lock, err := config.LockState(c.StateDir)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if err := config.MakeRuntimeDir(c.RuntimeDir); err != nil {
		return err
	}
	for _, n := range c.Notices {
		s.log.Warn(n.String())
	}
	var tour *tour
	if demo {
		if tour, err = newTour(c); err != nil {
			return err
		}
	}
	if err := s.openKeys(); err != nil {
		return err
	}
	watching, unwatch := context.WithCancel(context.Background())
	defer unwatch()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if err := s.keys.Watch(watching); err != nil && watching.Err() == nil {
			s.log.Error("the key files are no longer watched", "error", err)
		}
	}()
	defer func() { unwatch(); <-watched }()
	if err := s.openSessions(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.sessions.Close()) }()
	if err := s.listen(); err != nil {
		return err
	}
	if err := s.startSessions(ctx); err != nil {
		return errors.Join(err, s.edge.Shutdown(context.Background()))
	}
	fmt.Printf("listening on %s\n", s.edge.Addr())
	if tour != nil {
		if err := tour.begin(ctx, s); err != nil {
			return errors.Join(err, s.edge.Shutdown(context.Background()))
		}
	}
	err = s.edge.Serve(ctx)
	if c.StopSessions {
		s.log.Info("ending the sessions")
		err = errors.Join(err, s.sessions.EndAll(context.Background(), server0))
	}
	return err
}

// server0 is the server itself as an actor.
var server0 = sessions.Actor{Identity: keys.Identity{Name: "berth"}}

func (s *server) openKeys() (err error) {
	s.keys, err = keys.OpenStore(keys.StoreOptions{
		Files: s.config.AuthorizedKeys, Authorize: s.config.Authorize,
		Problems: func(list []keys.Problem) {
			for _, p := range list {
				s.log.Warn("key file", "problem", p.String())
			}
		},
	})
	if err != nil {
		return err
	}
	for _, p := range s.keys.Problems() {
		s.log.Warn("key file", "problem", p.String())
	}
	if s.keys.Empty() {
		return fmt.Errorf("no key may log in: put a public key into %s, or name one with --authorize FILE.pub", s.config.AuthorizedKeys[0])
	}
	return nil
}

func (s *server) openSessions(ctx context.Context) error {
	account := config.CurrentAccount()
	login, err := config.LoginEnv(ctx, account)
	if err != nil {
		s.log.Warn("the login shell's environment is known in part", "shell", account.Shell, "error", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find berth's own binary: %w", err)
	}
	s.sessions, err = sessions.Open(ctx, sessions.Options{
		StateDir: s.config.StateDir, RuntimeDir: s.config.RuntimeDir, Exe: exe, Log: s.log, Now: time.Now,
		Environment: sessions.Environment{
			Login: sessions.EnvMap(login), Server: os.LookupEnv, ReadFile: config.LoadEnvFile, Redact: config.RedactMap,
			Socket: filepath.Join(s.config.RuntimeDir, socketName), Home: account.Home, User: account.Name, Shell: account.Shell,
		},
		Retention: sessions.Retention{Ended: s.config.Retention.Ended, Keep: s.config.Retention.Keep, Total: int64(s.config.Retention.Total)},
		Clipboard: s.config.Clipboard,
	})
	return err
}

// listen opens the SSH edge and wires it to the verbs.
func (s *server) listen() error {
	paths := s.config.HostKeys
	if len(paths) == 0 {
		paths = keys.HostKeyPaths(s.config.StateDir)
	}
	host, err := keys.LoadOrCreateHostKeys(paths...)
	if err != nil {
		return err
	}
	var signers []gossh.Signer
	for _, k := range host {
		signers = append(signers, k.Signer)
	}
	profiles, err := s.profiles()
	if err != nil {
		return err
	}
	service := &commands.Service{
		Sessions: s.sessions, Profiles: profiles, Version: version(), Started: s.started, Now: time.Now, Log: s.log,
		MaxInput: int64(s.config.Limits.InputBytes), Edge: s.edgeHealth,
	}
	d := &dispatch.Dispatcher{Commands: service, Prefix: s.config.PrefixByte(), Log: s.log}
	l := s.config.Limits
	s.edge, err = sshd.New(sshd.Options{
		Listen: []string{s.config.Listen}, Socket: filepath.Join(s.config.RuntimeDir, socketName), HostKeys: signers,
		Keys: sshd.StoreKeys(s.keys), Serve: d.Serve, Holders: s.holders, Log: s.log, Now: time.Now,
		Limits: sshd.Limits{
			Startups: l.MaxStartups, StartupsPerSource: l.PerSource, LoginGrace: l.LoginGrace, AuthTries: l.MaxAuthTries, Channels: l.ChannelsPerConnection,
			EnvBytes: int(l.EnvBytes), CommandBytes: int(l.CommandBytes), Verbs: float64(l.VerbsPerSecond),
		},
	})
	if err != nil {
		return err
	}
	d.Address = address(s.edge.Addr())
	return nil
}

// address is how a client writes this server behind ssh.
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

func (s *server) holders() []sshd.HolderProcess {
	var out []sshd.HolderProcess
	for _, h := range s.sessions.Holders() {
		out = append(out, sshd.HolderProcess{PID: h.PID, Start: h.Start, Session: h.ID, Name: h.Name})
	}
	return out
}

func (s *server) edgeHealth() map[string]any { return map[string]any{"listen": s.edge.Addr().String()} }
