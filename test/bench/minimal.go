package main

import (
	"net"
	"sync"

	gossh "golang.org/x/crypto/ssh"
)

// minimal starts a minimal SSH server, which accepts every command and ends it with success. The time of
// a command is then the client's own.
func (b *bench) minimal() (string, error) {
	_, host, err := b.newKey("minimal")
	if err != nil {
		return "", err
	}
	config := &gossh.ServerConfig{
		Config:            gossh.Config{KeyExchanges: []string{gossh.KeyExchangeCurve25519}, Ciphers: []string{gossh.CipherAES128GCM}},
		PublicKeyCallback: func(gossh.ConnMetadata, gossh.PublicKey) (*gossh.Permissions, error) { return nil, nil },
	}
	config.AddHostKey(host)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { serveMinimal(c.(*net.TCPConn), config) })
		}
	})
	b.later(func() error {
		err := l.Close()
		running.Wait()
		return err
	})
	return l.Addr().String(), nil
}

// prompt acknowledges received data at once, as Berth does at first. Otherwise the client waits for the
// kernel's delayed acknowledgements.
type prompt struct{ *net.TCPConn }

func (p prompt) Read(b []byte) (int, error) {
	n, err := p.TCPConn.Read(b)
	acknowledge(p.TCPConn)
	return n, err
}

func serveMinimal(c *net.TCPConn, config *gossh.ServerConfig) {
	defer c.Close()
	conn, channels, requests, err := gossh.NewServerConn(prompt{c}, config)
	if err != nil {
		return
	}
	defer conn.Close()
	go gossh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go func() {
			for r := range requests {
				_ = r.Reply(true, nil)
				if r.Type == "exec" {
					_, _ = channel.Write([]byte("{}\n"))
					_, _ = channel.SendRequest("exit-status", false, []byte{0, 0, 0, 0})
					_ = channel.Close()
				}
			}
		}()
	}
}
