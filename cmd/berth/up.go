package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/cmd/berth/background"
	"berth/config"
	"berth/doctor"
	"berth/sshd/local"
)

// patience is how long a server may take to start and to stop.
const patience = 20 * time.Second

// answerTime is how long a running server may take to say how it is.
const answerTime = 2 * time.Second

// notRunning is the exit status of berth status without a server: 3, as of NOT_FOUND and of systemctl.
const notRunning = exitStatus(3)

// errMute says that a process has the socket and doesn't answer.
var errMute = errors.New("a server has the socket, but doesn't say how it is")

// standing is what a running server says of itself.
type standing struct {
	PID      int            `json:"pid"`
	Version  string         `json:"version"`
	Started  time.Time      `json:"started_at"`
	Sessions map[string]int `json:"sessions"`
	Problems []string       `json:"problems"`
	Edge     struct {
		Listen string `json:"listen"`
	} `json:"edge"`
}

// ask asks the server with that configuration how it is. The error is local.ErrNoServer if none runs.
func askServer(ctx context.Context, c *config.Config) (standing, error) {
	var st standing
	dir := c.RuntimeDir
	if _, told, err := config.LastServer(c.StateDir); err == nil && told != "" {
		dir = told
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var out, said bytes.Buffer
	status, err := local.Run(ctx, filepath.Join(dir, socketName), []string{"health", "--json"}, strings.NewReader(""), &out, &said, false)
	switch {
	case err != nil:
		return st, err
	case status != 0:
		return st, fmt.Errorf("%w: %s", errMute, strings.TrimSpace(said.String()))
	}
	if err := json.Unmarshal(out.Bytes(), &st); err != nil {
		return st, fmt.Errorf("%w: %w", errMute, err)
	}
	return st, nil
}

func upCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "up", Short: "start the server in the background, with your own keys", Args: cobra.NoArgs,
		Long: "Start the server in the background and admit your own public keys (~/.ssh/id_*.pub); without one it makes a\n" +
			"key pair in the state folder. Where systemd manages your services the server is your unit berth.service; else\n" +
			"it is a detached process, whose log is server.log in the state folder; the next start sets a log above 4 MiB aside. The options are those of berth serve.\n" +
			"berth down stops it.",
	}
	cmd.Flags().StringVar(&file, "config", "", "berth.yaml to read")
	given := configFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		file, settings, environ, err := fromEverywhere(file, given(), os.Environ())
		if err != nil {
			return err
		}
		c, err := config.Load(config.Source{Path: file, Environ: environ, Flags: settings})
		if err != nil {
			return err
		}
		return up(cmd.Context(), c, serverLine{file, settings, environ})
	}
	return cmd
}

// serverLine is what a server is started with.
type serverLine struct {
	file     string // --config
	settings []config.Setting
	environ  []string
}

// fromEverywhere makes the files and folders of the options and of BERTH_* absolute: the server runs in
// another folder than this program.
func fromEverywhere(file string, settings []config.Setting, environ []string) (string, []config.Setting, []string, error) {
	var failed error
	abs := func(path string) string {
		if path == "" || filepath.IsAbs(path) || strings.HasPrefix(path, "~") {
			return path
		}
		path, err := filepath.Abs(path)
		failed = errors.Join(failed, err)
		return path
	}
	settings, environ = slices.Clone(settings), slices.Clone(environ)
	for i, s := range settings {
		if slices.Contains(fileFields, s.Field) {
			settings[i].Value = abs(s.Value)
		}
	}
	names := []string{"BERTH_CONFIG"}
	for _, field := range fileFields {
		names = append(names, config.EnvName(field))
	}
	for i, v := range environ {
		if name, value, _ := strings.Cut(v, "="); slices.Contains(names, name) {
			environ[i] = name + "=" + abs(value)
		}
	}
	return abs(file), settings, environ, failed
}

// up starts the server unless it runs, and says how to reach it.
func up(ctx context.Context, c *config.Config, line serverLine) error {
	running, err := askServer(ctx, c)
	switch {
	case err == nil:
		fmt.Printf("Berth runs already: %s.\n", where(running))
		return printWays(c, line)
	case !errors.Is(err, local.ErrNoServer):
		return fmt.Errorf("look for a running server: %w", err)
	}
	argv, err := line.argv()
	if err != nil {
		return err
	}
	if err := config.MakeStateDir(c.StateDir); err != nil {
		return err
	}
	var ended <-chan error
	var logged int64
	if background.Systemd() {
		if err := background.StartUnit(ctx, background.UnitText(argv, berthVariables(line.environ))); err != nil {
			return err
		}
		watching, stop := context.WithCancel(ctx)
		defer stop()
		ended = background.WatchUnit(watching)
	} else {
		if info, err := os.Stat(background.LogFile(c.StateDir)); err == nil {
			logged = info.Size()
		}
		if _, ended, err = background.Detach(c.StateDir, argv, line.environ); err != nil {
			return err
		}
	}
	err = background.WaitUp(ctx, ended, patience, func(ctx context.Context) bool {
		running, err = askServer(ctx, c)
		return err == nil
	})
	if err != nil {
		return notUp(c, err, logged)
	}
	fmt.Printf("Berth runs in the background: %s.\n", where(running))
	return printWays(c, line)
}

// notUp says why no server answers, with what it said last.
func notUp(c *config.Config, err error, logged int64) error {
	if background.Systemd() {
		return fmt.Errorf("start the server: %w: see journalctl --user -u %s", err, background.Unit)
	}
	const lines = 3
	said := background.LastLines(background.LogFile(c.StateDir), logged, lines)
	return fmt.Errorf("start the server: %w; its log is %s:\n%s", err, background.Short(background.LogFile(c.StateDir)), strings.Join(said, "\n"))
}

// argv is the command that runs the server.
func (l serverLine) argv() ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find berth's own binary: %w", err)
	}
	return append([]string{exe, "serve", "--own-keys"}, l.options(func(string) bool { return true })...), nil
}

// options are the options for fields that wanted says.
func (l serverLine) options(wanted func(field string) bool) (list []string) {
	if l.file != "" {
		list = append(list, "--config="+l.file)
	}
	settings := slices.Clone(l.settings)
	slices.SortStableFunc(settings, func(a, b config.Setting) int { return strings.Compare(a.Field, b.Field) })
	for _, s := range settings {
		if !wanted(s.Field) {
			continue
		}
		name := config.FlagName(s.Field)
		if n, ok := flagOf[s.Field]; ok {
			name = "--" + n
		}
		list = append(list, name+"="+s.Value)
	}
	return list
}

// places are the options that down and status need to find the server, as a person pastes them.
func (l serverLine) places() (words string) {
	for _, o := range l.options(func(field string) bool { return field == "state_dir" || field == "runtime_dir" }) {
		name, value, _ := strings.Cut(o, "=")
		words += " " + name + " " + background.Pasted(value)
	}
	return words
}

// fileFields are the settings whose values are files and folders.
var fileFields = []string{"state_dir", "runtime_dir", "hold", "authorized_keys", "revoked_keys", "authorize", "host_keys"}

// berthVariables are the variables with a server's folders and settings. A unit has no
// others of the caller's. Those of a session are about its server.
func berthVariables(environ []string) (list []string) {
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case name == "BERTH_SOCKET", strings.HasPrefix(name, "BERTH_SESSION"):
		case strings.HasPrefix(name, "BERTH_"), name == "XDG_STATE_HOME", name == "XDG_CONFIG_HOME":
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return list
}

func where(st standing) string {
	text := fmt.Sprintf("pid %d", st.PID)
	if st.Edge.Listen != "" {
		text += ", on " + st.Edge.Listen
	}
	return text
}

// printWays says how to reach the server and how to stop it.
func printWays(c *config.Config, line serverLine) error {
	text, err := os.ReadFile(background.ConfigFile(c.StateDir))
	if err != nil {
		return fmt.Errorf("read what ssh needs to know of the server: %w", err)
	}
	fmt.Printf("The dashboard: ssh -F %s %s\nStop it: berth down%s (the sessions keep running)\n",
		background.Pasted(background.ConfigFile(c.StateDir)), background.Host, line.places())
	if background.Systemd() && !background.Lingers(config.CurrentAccount().Name) {
		fmt.Println("Your services end when you log out of this machine. To keep them: loginctl enable-linger")
	}
	fmt.Printf("\nFor ssh %s without -F, paste this into ~/.ssh/config:\n\n%s", background.Host, text)
	return nil
}

// found is a command with the options that lead to a server.
func found(cmd *cobra.Command, run func(context.Context, *config.Config) error) *cobra.Command {
	var file string
	cmd.Args = cobra.NoArgs
	cmd.Flags().StringVar(&file, "config", "", "berth.yaml to read")
	given := configFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := config.Load(config.Source{Path: file, Environ: os.Environ(), Flags: given()})
		if err != nil {
			return err
		}
		return run(cmd.Context(), c)
	}
	return cmd
}

func downCommand() *cobra.Command {
	return found(&cobra.Command{
		Use: "down", Short: "stop the server; its sessions keep running",
		Long: "Stop the server, and disable the unit that berth up wrote. The sessions keep running, and the next server\n" +
			"takes them up; with stop_sessions in berth.yaml they end.",
	}, down)
}

func down(ctx context.Context, c *config.Config) error {
	// Its pid comes from that folder and from what answers there: another user could name any process.
	if err := doctor.OwnFolder(c.StateDir); err != nil {
		return fmt.Errorf("%w; as a service it is stopped with: sudo systemctl stop berth", err)
	}
	running, err := askServer(ctx, c)
	if errors.Is(err, local.ErrNoServer) {
		stopped, err := background.StopUnit(ctx) // which may be about to start
		if err != nil {
			return err
		}
		if stopped {
			fmt.Println("No server runs here. Your unit " + background.Unit + " is stopped and disabled.")
			return nil
		}
		fmt.Println("No server runs.")
		return nil
	}
	pid := running.PID
	if err != nil { // it hangs, or wants a key: its pid is known all the same
		if pid, _, err = config.LastServer(c.StateDir); err != nil {
			return err
		}
	}
	if pid < 2 { // these aren't one process
		return fmt.Errorf("the server's pid is %d, which can't be: end it by hand", pid)
	}
	if _, err := background.StopUnit(ctx); err != nil {
		return err
	}
	if err := background.Stop(ctx, pid, patience); err != nil {
		return err
	}
	if c.StopSessions {
		fmt.Println("Stopped, with its sessions.")
		return nil
	}
	fmt.Printf("Stopped. Sessions that keep running: %d. berth up takes them up again.\n", alive(running.Sessions))
	return nil
}

// alive counts the sessions whose program runs.
func alive(states map[string]int) (n int) {
	for state, count := range states {
		if state != "exited" {
			n += count
		}
	}
	return n
}

func statusCommand() *cobra.Command {
	return found(&cobra.Command{
		Use: "status", Short: "say whether the server runs, and where",
		Long: "Say whether the server runs, since when, where it listens and where its log is. The exit status is 0 if it\n" +
			"runs and 3 if it doesn't.",
	}, func(ctx context.Context, c *config.Config) error {
		st, err := askServer(ctx, c)
		if errors.Is(err, local.ErrNoServer) {
			fmt.Println("No server runs. Start it: berth up")
			return notRunning
		}
		if err != nil {
			return err
		}
		writeStanding(os.Stdout, st, time.Now())
		return nil
	})
}

func writeStanding(w io.Writer, st standing, now time.Time) {
	fmt.Fprintf(w, "running: %s, for %s, version %s\n", where(st), now.Sub(st.Started).Round(time.Second), st.Version)
	fmt.Fprintf(w, "sessions: %d running\n", alive(st.Sessions))
	if log, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/2", st.PID)); err == nil && filepath.Base(log) == filepath.Base(background.LogFile("")) {
		fmt.Fprintln(w, "log:", background.Short(log))
	}
}
