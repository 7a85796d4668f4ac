package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/commands"
	"berth/mcp"
	"berth/mcp/bridge"
	"berth/sshd/local"
)

// mcpCommand serves a client of the Model Context Protocol on this machine, through a server here or
// elsewhere. It stays when the server goes, and connects again.
func mcpCommand() *cobra.Command {
	verb := commands.Lookup("mcp")
	host := ""
	c := &cobra.Command{
		Use: "mcp [--host HOST]", Short: verb.Short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dial, err := dialer(host)
			if err != nil {
				return err
			}
			return bridge.Run(cmd.Context(), bridge.Options{
				In: os.Stdin, Out: os.Stdout, Dial: dial, Again: mcp.ReadOnly,
				Patience: mcp.Longest - 5*time.Second, Longest: mcp.Longest, Pause: 100 * time.Millisecond,
			})
		},
	}
	c.Flags().StringVar(&host, "host", "", "the server as ssh names it, such as agents@box; default the server on this machine")
	return c
}

// dialer opens connections to the verb mcp of a server.
func dialer(host string) (func(context.Context) (io.ReadWriteCloser, error), error) {
	switch {
	case strings.HasPrefix(host, "-"):
		return nil, fmt.Errorf("--host %s isn't a host: give it as ssh takes it, such as agents@box", host)
	case host != "":
		return func(ctx context.Context) (io.ReadWriteCloser, error) { return overSSH(ctx, host) }, nil
	}
	socket, err := localSocket()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (io.ReadWriteCloser, error) { return overSocket(ctx, socket) }, nil
}

// stream is a connection made of two pipes.
type stream struct {
	io.Reader
	io.WriteCloser
	end func() error
}

func (s stream) Close() error { return errors.Join(s.WriteCloser.Close(), s.end()) }

// overSSH runs ssh, with the user's own settings and keys. It asks no person, and notices in 45 s that the
// server is gone.
func overSSH(ctx context.Context, host string) (io.ReadWriteCloser, error) {
	cmd := exec.CommandContext(ctx, "ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3", "--", host, "mcp")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("open a pipe to ssh: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("open a pipe from ssh: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start ssh: %w", err)
	}
	return stream{out, in, func() error {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // its status says no more than the end of its output
		return nil
	}}, nil
}

// overSocket is the same through the local socket.
func overSocket(ctx context.Context, socket string) (io.ReadWriteCloser, error) {
	ctx, cancel := context.WithCancel(ctx)
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		status, err := local.Run(ctx, socket, []string{"mcp"}, fromClient, toClient, os.Stderr, false)
		if err == nil && status != 0 {
			err = fmt.Errorf("the server ended mcp with status %d", status)
		}
		if err == nil {
			err = io.EOF
		}
		_ = toClient.CloseWithError(err) // never fails
		_ = fromClient.CloseWithError(err)
	}()
	return stream{out, in, func() error {
		cancel()
		_ = out.Close()
		<-ended
		return nil
	}}, nil
}
