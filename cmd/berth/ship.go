package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"berth/api"
	"berth/audit/ship"
	"berth/sessions/command"
)

// startShipper sends the audit log where the configuration says; without that it does nothing.
func (s *server) startShipper() (err error) {
	to := s.config.Audit.Ship
	if !to.Set() {
		return nil
	}
	o := ship.Options{
		After: func(n uint64) ship.Lines { return s.audit.ReaderAfter(n) }, Grew: s.audit.Grew(),
		File: filepath.Join(s.config.StateDir, "audit-ship.json"), Log: s.log,
	}
	switch {
	case to.Syslog != "":
		o.Send = ship.Syslog(to.Syslog)
	case to.HTTP != "":
		o.Send = ship.HTTP(to.HTTP, to.Token, api.ThisBuild().Version)
	default:
		o.Send = ship.Command(s.runShipper(to.Command))
	}
	s.shipper, err = ship.Start(o)
	return err
}

// runShipper runs the command as a caller that may do nothing here: an agent may be able to edit it.
func (s *server) runShipper(argv []string) func(context.Context, []byte, time.Duration) error {
	return func(ctx context.Context, stdin []byte, within time.Duration) error {
		path, err := exec.LookPath(argv[0])
		if err != nil {
			return errors.New("it was not found in the server's PATH: give its full path")
		}
		_, err = s.sessions.RunForNone(ctx, command.Command{Path: path, Argv: argv, Env: os.Environ(), Dir: "/", Stdin: stdin, Within: within})
		return err
	}
}

// shipped is how the shipping of the audit log does; nil without one.
func (s *server) shipped() *ship.Status {
	if s.shipper == nil {
		return nil
	}
	st := s.shipper.Status()
	return &st
}
