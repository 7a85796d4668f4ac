package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/audit"
	"berth/keys"
	"berth/sshd"
)

// openAudit opens the audit log, whose heads the first host key signs.
func (s *server) openAudit() (err error) {
	dir := filepath.Join(s.config.StateDir, "audit")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the audit log: %w", err)
	}
	var known []gossh.PublicKey
	for _, k := range s.hostKeys {
		known = append(known, k.Signer.PublicKey())
	}
	s.audit, err = audit.Open(dir, audit.Options{Signer: s.hostKeys[0].Signer, Known: append(known, keys.RetiredHostKeys(s.config.StateDir)...), Total: int64(s.config.Retention.Audit), Age: s.config.Retention.AuditAge, Log: s.log})
	if err != nil {
		return err
	}
	s.write(audit.Entry{Kind: audit.KindOpened, PID: os.Getpid(), Text: "berth " + api.ThisBuild().Version})
	return nil
}

// write records something that has already happened.
func (s *server) write(e audit.Entry) {
	if _, err := s.audit.Append(e); err != nil {
		s.missing(e, err)
	}
}

func (s *server) missing(e audit.Entry, err error) {
	s.log.Error("a line is missing from the audit log", "kind", e.Kind, "identity", e.Identity, "error", err)
}

// login records each login and each refused login.
func (s *server) login(l sshd.Login) {
	e := audit.Entry{Kind: audit.KindRefused, Conn: l.Conn, User: l.User, Source: l.Source, Offered: l.Offered, Text: l.Reason, Verb: "login"}
	if l.Accepted {
		id := l.Identity
		e.Admin = id.Role == keys.Admin
		e.Kind, e.Identity, e.Caller, e.CallerID, e.Fingerprint, e.Line, e.PID, e.Offered = audit.KindLogin, id.Name, string(id.Kind), id.Session, id.Fingerprint, id.Line, id.PID, nil
		s.write(e)
	} else if err := s.audit.Refuse(e); err != nil {
		s.missing(e, err)
	}
}

// followKeys records each change of who may log in, until ctx ends.
func (s *server) followKeys(ctx context.Context) {
	before := &keys.Set{}
	for {
		changed := s.keys.Changed()
		now := s.keys.Current()
		for _, c := range now.Since(before) {
			s.write(audit.Entry{Kind: audit.KindKeys, Fingerprint: c.Fingerprint, Verb: c.What, Text: changeText(c)})
		}
		before = now
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func changeText(c keys.Change) string {
	before, now := strings.Join(c.Before, "; "), strings.Join(c.Now, "; ")
	switch c.What {
	case "added", "revoked":
		return now
	case "removed", "unrevoked":
		return before
	}
	return before + " -> " + now
}
