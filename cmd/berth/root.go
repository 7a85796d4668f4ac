package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"berth/api"
	"berth/commands"
	"berth/config"
	"berth/sshd/local"
)

// socketName is the local socket's name in the runtime folder.
const socketName = "berth.sock"

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "berth VERB [options] ...",
		Short: "Terminals for AI coding agents, shared over SSH",
		Long: "berth serve starts the server. Every verb of the server works here too:\n" +
			"berth ls, berth attach NAME, berth help. The server then identifies the caller by its process, not by a key.",
		SilenceErrors: true, SilenceUsage: true,
		Args:    cobra.ArbitraryArgs,
		Version: api.ThisBuild().Version, // this program's version; the verb version shows the server's
		RunE: func(cmd *cobra.Command, args []string) error {
			return callServer(cmd, args)
		},
	}
	root.SetVersionTemplate("berth {{.Version}}\n")
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true}) // help is a verb of the server
	root.AddCommand(serveCommand(), upCommand(), downCommand(), statusCommand(), configCommand(), doctorCommand(), upgradeCheckCommand(), rulesCommand(), explainCommand(), mcpCommand())
	for _, name := range commands.Names() {
		// Two also work without a server, completion has a program of its own here, and mcp stays when the
		// server goes.
		if name != "explain" && name != "doctor" && name != "completion" && name != "mcp" {
			root.AddCommand(verbCommand(name, name))
		}
	}
	for alias, as := range commands.Aliases() {
		root.AddCommand(verbCommand(alias, as[0]))
	}
	return root
}

// verbCommand passes a verb of the server on unchanged, under its name or an alias: the server parses
// its options.
func verbCommand(name, of string) *cobra.Command {
	verb := commands.Lookup(of)
	return &cobra.Command{
		Use: strings.TrimSpace(name + " " + verb.Synopsis), Short: verb.Short, DisableFlagParsing: true, ValidArgsFunction: completeVerb(name),
		RunE: func(cmd *cobra.Command, args []string) error {
			return callServer(cmd, append([]string{name}, args...))
		},
	}
}

// callServer runs a verb on the server, through the local socket.
func callServer(cmd *cobra.Command, argv []string) error {
	argv = commands.Expand(argv)
	socket, err := localSocket()
	if err != nil {
		return err
	}
	if argv, err = fromHere(argv); err != nil {
		return err
	}
	tty := len(argv) == 0 || argv[0] == "attach" && term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	if !tty && term.IsTerminal(int(os.Stdout.Fd())) && !choosesForm(argv) {
		argv = inText(argv)
	}
	status, err := local.Run(cmd.Context(), socket, argv, os.Stdin, os.Stdout, os.Stderr, tty)
	if errors.Is(err, local.ErrNoServer) && len(argv) > 0 {
		if alone, ok := runAlone(cmd.Context(), argv); ok {
			status, err = alone, nil
		}
	}
	if err != nil && !errors.Is(err, local.ErrWord) {
		fmt.Fprintln(os.Stderr, "berth:", err)
		return exitStatus(noConnection)
	}
	if err != nil {
		return err
	}
	if status != 0 {
		return exitStatus(status)
	}
	return nil
}

// noConnection is the exit status of a verb whose server can't be reached, refuses the login, or goes before it has
// answered. It is ssh's own, so that a script sees the same over the socket and over the network. No verb has it.
const noConnection = 255

// choosesForm says whether one of the options chooses the form of the answer.
func choosesForm(argv []string) bool {
	for _, word := range argv {
		name, _, _ := strings.Cut(word, "=")
		switch name {
		case "--json", "--text", "--jq", "--format", "--quiet", "-q":
			return true
		case "--":
			return false
		}
	}
	return false
}

// inText asks for text where the verb would answer in JSON because the connection has no
// terminal: a person reads this answer.
func inText(argv []string) []string {
	verb := commands.Lookup(argv[0])
	if verb == nil || verb.TextOnly || !verb.HasForms() {
		return argv
	}
	return append([]string{argv[0], "--text"}, argv[1:]...)
}

// fromHere makes the folder of new --cwd absolute: on the host, a relative folder starts where the
// caller is. The server would start it at the home of the session's user.
func fromHere(argv []string) ([]string, error) {
	if len(argv) == 0 || argv[0] != "new" {
		return argv, nil
	}
	flags := pflag.NewFlagSet("new", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true // the server reports them
	flags.SetOutput(io.Discard)
	commands.Lookup("new").Flags(flags)
	if flags.Parse(argv[1:]) != nil { // the server says why
		return argv, nil
	}
	dir, _ := flags.GetString("cwd")
	if dir == "" || filepath.IsAbs(dir) || dir == "~" || strings.HasPrefix(dir, "~/") {
		return argv, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("--cwd: %w", err)
	}
	end := slices.Index(argv, "--") // of the options
	if end < 0 {
		end = len(argv)
	}
	return slices.Insert(slices.Clone(argv), end, "--cwd="+dir), nil // the last one counts
}

// localSocket is the socket of the server for this environment. It is BERTH_SOCKET, which
// sessions have in their environment; else the path that the server with the configured state
// folder wrote down, because that server may have another environment; else the path in the
// runtime folder of the configuration.
func localSocket() (string, error) {
	if s := os.Getenv("BERTH_SOCKET"); s != "" {
		return s, nil
	}
	c, err := config.Load(config.Source{Environ: os.Environ()})
	if err != nil {
		return "", fmt.Errorf("find the server's socket: %w", err)
	}
	dir := c.RuntimeDir
	if _, told, err := config.LastServer(c.StateDir); err == nil && told != "" {
		dir = told
	} else if err != nil && !errors.Is(err, config.ErrNoServer) {
		return "", fmt.Errorf("find the server's socket: %w", err)
	}
	if err := ourFolder(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, socketName), nil
}

// ourFolder refuses a folder of another user: any user can make one in the temp folder under our
// server's name, and listen in it.
func ourFolder(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no server is running
	}
	if err != nil {
		return fmt.Errorf("find the server's socket: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return api.Errorf(api.CodeDenied, "the folder %s, where the server's socket would be, belongs to another user: if you mean that server, set BERTH_SOCKET", dir)
	}
	return nil
}
