package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"berth/api"
	"berth/commands"
	"berth/config"
	"berth/doctor"
	"berth/sessions"
	"berth/sessions/cgroup"
	"berth/sessions/command"
	"berth/sessions/hold"
	"berth/sshd/local"
)

// versionWithin is how long an agent may take to say its version: those on Node take a second.
const versionWithin = 10 * time.Second

// doctorCommand examines this machine itself, so that it works without a server.
func doctorCommand() *cobra.Command {
	verb := commands.Lookup("doctor")
	var file string
	var asJSON, asText, bundle bool
	cmd := &cobra.Command{
		Use: verb.Usage(), Short: verb.Short, Args: cobra.NoArgs,
		Long: "Look for what keeps a server from starting, callers from logging in and agents from running. It works\n" +
			"without a server. Run it as the server's user. The exit status is 0 if all is well, 1 with a warning, 2 with an error.",
	}
	cmd.Flags().StringVar(&file, "config", "", "berth.yaml to read")
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer in JSON")
	cmd.Flags().BoolVar(&asText, "text", false, "answer in text")
	cmd.MarkFlagsMutuallyExclusive("json", "text")
	cmd.Flags().BoolVar(&bundle, "bundle", false, "write a tar file for a report: what doctor finds, versions and counts")
	given := configFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := config.Load(config.Source{Path: file, Environ: os.Environ(), Flags: given()})
		results := doctor.Run(cmd.Context(), hostEnv(c, err))
		switch {
		case bundle:
			if term.IsTerminal(int(os.Stdout.Fd())) {
				return errors.New("the bundle is a tar file: berth doctor --bundle > berth-doctor.tar")
			}
			if err := doctor.Bundle(os.Stdout, time.Now(), results, nil); err != nil {
				return err
			}
		case asJSON || !asText && !term.IsTerminal(int(os.Stdout.Fd())):
			if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
				return fmt.Errorf("write the answer: %w", err)
			}
		default:
			commands.WriteDoctor(os.Stdout, results)
		}
		if _, status := doctor.Worst(results); status != 0 {
			return exitStatus(status)
		}
		return nil
	}
	return cmd
}

// hostEnv is this machine as a caller on it sees it. problem says why the configuration could not be read.
func hostEnv(c *config.Config, problem error) doctor.Env {
	env := doctor.Env{Config: c, Problem: problem, Account: config.CurrentAccount(), Now: time.Now, Getenv: os.Getenv, FileLimit: fileLimit}
	if c == nil {
		return env
	}
	env.Hold = holderPath(c.Hold)
	env.Version = func(ctx context.Context, program string) string { return saysVersion(ctx, env.Hold, program) }
	env.Path = func(ctx context.Context) (string, error) { return sessionPath(ctx, env.Hold) }
	env.Server = func(ctx context.Context) (*doctor.Server, error) {
		st, err := askServer(ctx, c)
		if errors.Is(err, local.ErrNoServer) {
			return nil, nil
		}
		return &doctor.Server{PID: st.PID, Listen: st.Edge.Listen, Version: st.Version, Problems: st.Problems}, err
	}
	return env
}

// limitsOf has each limit that something in the configuration has.
func limitsOf(c *config.Config) (all cgroup.Limits) {
	add := func(s config.Session) {
		all.Memory, all.Processes, all.CPU = max(all.Memory, int64(s.Limits.Memory)), max(all.Processes, s.Limits.Processes), max(all.CPU, int64(s.Limits.CPU))
	}
	add(c.Defaults)
	for _, p := range c.Profiles {
		add(p)
	}
	for _, s := range c.Sessions {
		add(s)
	}
	return all
}

// doctor examines the machine from inside the server.
func (s *server) doctor(ctx context.Context) []doctor.Result {
	env := hostEnv(s.now.Load(), nil)
	env.Inside = true
	env.Cgroups = func() (string, error) {
		return s.cgroups.String(), cmp.Or(s.cgroups.Check(limitsOf(env.Config)), s.cgroups.Why())
	}
	env.Server = func(context.Context) (*doctor.Server, error) {
		health := s.sessions.Health(func(*sessions.Session) bool { return true }, true)
		return &doctor.Server{PID: health.PID, Listen: s.edge.Addr().String(), Version: api.ThisBuild().Version, Problems: health.Problems}, nil
	}
	// What is on the PATH of agents may be an agent's: it runs as programs of sessions do.
	env.Version = func(ctx context.Context, program string) string {
		for _, found := range s.sessions.Installed(ctx, s.specs.Load().Defaults, true) {
			if found.Agent == filepath.Base(program) {
				return found.Version
			}
		}
		return ""
	}
	return doctor.Run(ctx, env)
}

// sessionPath is PATH as the login shell gives it to sessions.
func sessionPath(ctx context.Context, holder string) (string, error) {
	env, err := config.LoginEnv(ctx, holder, config.CurrentAccount())
	return sessions.EnvMap(env)["PATH"], err
}

// saysVersion runs an agent's program for its version. Agents may be able to edit what is on their PATH, so
// it runs as what the login shell starts does: a server refuses it, and it has no terminal.
func saysVersion(ctx context.Context, holder, program string) string {
	const most = 4096
	out, err := command.Run(ctx, command.Command{
		Path: program, Argv: []string{program, "--version"}, Env: os.Environ(), Dir: "/", Most: most, Within: versionWithin,
		Enter: func(cmd *exec.Cmd) (command.Entry, error) {
			entry, err := hold.Enter(cmd, holder, hold.LoginShell)
			return entering{entry}, err
		},
	})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out.Output))
}

// entering is a process that becomes a program with the mark of a login shell.
type entering struct{ *hold.Entry }

func (e entering) Begin(int) error { return e.Entry.Begin() }

func fileLimit() (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("ask for the limit of open files: %w", err)
	}
	return limit.Cur, nil
}

// holderPath is where berth-hold is or should be.
func holderPath(given string) string {
	if exe, err := os.Executable(); given == "" && err == nil {
		return filepath.Join(filepath.Dir(exe), hold.HookBinary)
	}
	return given
}
