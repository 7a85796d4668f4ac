package conn

import (
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"net"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"berth/test/cluster"
)

// sshServer serves SSH on l: a channel echoes what it gets, or for the type "sink" reads it.
func sshServer(tb testing.TB, l net.Listener) {
	tb.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	signer, err := gossh.NewSignerFromKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	config := &gossh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(signer)
	served := make(chan struct{})
	tb.Cleanup(func() { _ = l.Close(); <-served })
	go func() {
		defer close(served)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveSSH(c, config)
		}
	}()
}

func serveSSH(c net.Conn, config *gossh.ServerConfig) {
	_, channels, requests, err := gossh.NewServerConn(c, config)
	if err != nil {
		return
	}
	go gossh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go gossh.DiscardRequests(requests)
		go func() {
			if offered.ChannelType() == "sink" {
				_, _ = io.Copy(io.Discard, channel)
			} else {
				_, _ = io.Copy(channel, channel)
			}
			_ = channel.Close()
		}()
	}
}

func sshClient(tb testing.TB, c net.Conn, err error) *gossh.Client {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	conn, channels, requests, err := gossh.NewClientConn(c, "", &gossh.ClientConfig{HostKeyCallback: gossh.InsecureIgnoreHostKey()})
	if err != nil {
		tb.Fatal(err)
	}
	client := gossh.NewClient(conn, channels, requests)
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

func openChannel(tb testing.TB, client *gossh.Client, kind string) gossh.Channel {
	tb.Helper()
	channel, requests, err := client.OpenChannel(kind, nil)
	if err != nil {
		tb.Fatal(err)
	}
	go gossh.DiscardRequests(requests)
	return channel
}

// TestSSHOverNATS carries SSH.
func TestSSHOverNATS(t *testing.T) {
	s := cluster.Plain(t, 0)
	d, l := dialerOn(t, connect(t, s.ClientURL()), Options{}), listenOn(t, connect(t, s.ClientURL()), "box2", Options{})
	sshServer(t, l)
	c, err := d.Dial(t.Context(), "box2")
	client := sshClient(t, c, err)
	channel := openChannel(t, client, "echo")
	sent, got := make([]byte, 3<<20), make([]byte, 3<<20)
	_, _ = rand.Read(sent)
	go func() { _, _ = channel.Write(sent); _ = channel.CloseWrite() }()
	if _, err := io.ReadFull(channel, got); err != nil || string(got) != string(sent) {
		t.Errorf("the echo is another one: %v", err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkSSH compares SSH over NATS with SSH over loopback TCP.
func BenchmarkSSH(b *testing.B) {
	s := cluster.Plain(b, 0)
	d, l := dialerOn(b, connect(b, s.ClientURL()), Options{}), listenOn(b, connect(b, s.ClientURL()), "box2", Options{})
	sshServer(b, l)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	sshServer(b, tcp)
	for _, way := range []struct {
		name string
		dial func() (net.Conn, error)
	}{
		{"tcp", func() (net.Conn, error) { return net.Dial("tcp", tcp.Addr().String()) }},
		{"nats", func() (net.Conn, error) { return d.Dial(b.Context(), "box2") }},
	} {
		client := func(b *testing.B) *gossh.Client {
			c, err := way.dial()
			return sshClient(b, c, err)
		}
		b.Run("handshake/"+way.name, func(b *testing.B) {
			for b.Loop() {
				_ = client(b).Close()
			}
		})
		b.Run("echo/"+way.name, func(b *testing.B) {
			channel, key := openChannel(b, client(b), "echo"), make([]byte, 1)
			for b.Loop() {
				if _, err := channel.Write(key); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(channel, key); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("bulk/"+way.name, func(b *testing.B) {
			channel, block := openChannel(b, client(b), "sink"), make([]byte, 1<<20)
			b.SetBytes(int64(len(block)))
			for b.Loop() {
				if _, err := channel.Write(block); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
