package e2e

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	gossh "golang.org/x/crypto/ssh"
)

// goClient is x/crypto's client, as Go programs use it:
//
//	gossh KEY [-see TEXT [-signal NAME] -type TEXT]... VERB...
//
// With -see it has a terminal. It sends the signal and types each text when it has seen the text before
// it. It uses the key's certificate if there is one.
func goClient(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if len(args) < 2 {
		ts.Fatalf("usage: gossh KEY [-see TEXT -type TEXT]... VERB...")
	}
	signer, err := s.signer(args[0])
	ts.Check(err)
	var talk []exchange
	args = args[1:]
	for len(args) > 4 && args[0] == "-see" {
		e := exchange{see: args[1]}
		if args = args[2:]; args[0] == "-signal" {
			e.signal, args = gossh.Signal(args[1]), args[2:]
		}
		if len(args) < 2 || args[0] != "-type" {
			ts.Fatalf("-type TEXT must follow -see TEXT [-signal NAME]")
		}
		e.say, err = strconv.Unquote(`"` + args[1] + `"`)
		ts.Check(err)
		talk, args = append(talk, e), args[2:]
	}
	client, err := gossh.Dial("tcp", net.JoinHostPort("127.0.0.1", ts.Getenv("PORT")), &gossh.ClientConfig{
		User: "agents", Auth: []gossh.AuthMethod{gossh.PublicKeys(signer)}, Timeout: patienceSeconds * time.Second,
		HostKeyCallback: gossh.InsecureIgnoreHostKey(), // the server of this script, on this machine
	})
	if err != nil {
		s.finished(ts, "", err.Error(), 255)
		s.wanted(ts, neg)
		return
	}
	defer client.Close()
	shot := time.AfterFunc(patienceSeconds*time.Second, func() { _ = client.Close() })
	defer shot.Stop()
	stdout, stderr, status, err := s.goSession(client, talk, strings.Join(args, " "))
	ts.Check(err)
	s.finished(ts, stdout, stderr, status)
	s.wanted(ts, neg)
}

// exchange is what the client sends once it has seen a text.
type exchange struct {
	see, say string
	signal   gossh.Signal
}

// signer is the script's key of that name, with its certificate if it has one.
func (s *stage) signer(name string) (gossh.Signer, error) {
	data, err := os.ReadFile(s.keyFile(name))
	if err != nil {
		return nil, err
	}
	signer, err := gossh.ParsePrivateKey(data)
	if err != nil {
		return nil, err
	}
	data, err = os.ReadFile(s.keyFile(name) + "-cert.pub")
	if errors.Is(err, os.ErrNotExist) {
		return signer, nil
	}
	if err != nil {
		return nil, err
	}
	key, _, _, _, err := gossh.ParseAuthorizedKey(data)
	if err != nil {
		return nil, err
	}
	return gossh.NewCertSigner(key.(*gossh.Certificate), signer)
}

func (s *stage) goSession(client *gossh.Client, talk []exchange, line string) (stdout, stderr string, status int, err error) {
	session, err := client.NewSession()
	if err != nil {
		return "", "", 0, err
	}
	defer session.Close()
	var said bytes.Buffer
	session.Stderr = &said
	out, err := session.StdoutPipe()
	if err != nil {
		return "", "", 0, err
	}
	in, err := session.StdinPipe()
	if err != nil {
		return "", "", 0, err
	}
	if len(talk) > 0 {
		if err := session.RequestPty("xterm", 30, 100, gossh.TerminalModes{}); err != nil {
			return "", "", 0, err
		}
	}
	if err := session.Start(line); err != nil {
		return "", "", 0, err
	}
	var seen []byte
	for _, t := range talk {
		buf := make([]byte, 4096)
		for from := len(seen); !bytes.Contains(seen[from:], []byte(t.see)); {
			n, err := out.Read(buf)
			if seen = append(seen, buf[:n]...); err != nil {
				return string(seen), said.String(), 0, err
			}
		}
		if t.signal != "" {
			if err := session.Signal(t.signal); err != nil {
				return string(seen), said.String(), 0, err
			}
		}
		if _, err := io.WriteString(in, t.say); err != nil {
			return string(seen), said.String(), 0, err
		}
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		return "", "", 0, err
	}
	var exit *gossh.ExitError
	if err := session.Wait(); errors.As(err, &exit) {
		status = exit.ExitStatus()
	} else if err != nil {
		return "", "", 0, err
	}
	return string(append(seen, rest...)), said.String(), status, nil
}
