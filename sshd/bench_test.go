package sshd

import (
	"context"
	"io"
	"strconv"
	"testing"

	gossh "golang.org/x/crypto/ssh"
)

func quiet(_ context.Context, c *Session) int {
	_, _ = io.WriteString(c, "{\"ok\":true}\n")
	return 0
}

func unlimited(o *Options) { o.Limits.Verbs = 1e9 }

// BenchmarkRealClient is what a person waits for: ssh host true, whole.
func BenchmarkRealClient(b *testing.B) {
	h := start(b, quiet, unlimited)
	for b.Loop() {
		if out, err := h.command("agents@127.0.0.1", "true").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
}

// BenchmarkRealClientShared is the same over a connection that is there.
func BenchmarkRealClientShared(b *testing.B) {
	h := start(b, quiet, unlimited)
	shared := h.master()
	for b.Loop() {
		if out, err := shared("agents@127.0.0.1", "true").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
}

func BenchmarkConnectExec(b *testing.B) {
	h := start(b, quiet, unlimited)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			c, err := gossh.Dial("tcp", h.server.Addr().String(), h.clientConfig())
			if err != nil {
				b.Error(err)
				return
			}
			execOnce(b, c)
			c.Close()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "execs/s")
}

func execOnce(b *testing.B, c *gossh.Client) {
	s, err := c.NewSession()
	if err != nil {
		b.Error(err)
		return
	}
	if _, err := s.Output("true"); err != nil {
		b.Error(err)
	}
	s.Close()
}

func BenchmarkExecSerial(b *testing.B) {
	h := start(b, quiet, unlimited)
	c := h.client()
	for b.Loop() {
		execOnce(b, c)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "execs/s")
}

func BenchmarkExecParallel(b *testing.B) {
	h := start(b, quiet, unlimited)
	c := h.client()
	b.SetParallelism(4)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			execOnce(b, c)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "execs/s")
}

// BenchmarkOutput writes in small pieces, which is what coalescing is for.
func BenchmarkOutput(b *testing.B) {
	for _, size := range []int{512, 4 << 10, 32 << 10} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			piece := make([]byte, size)
			const total = 64 << 20
			h := start(b, func(_ context.Context, c *Session) int {
				for n := 0; n < total; n += size {
					if _, err := c.Write(piece); err != nil {
						return 1
					}
				}
				return 0
			}, unlimited)
			c := h.client()
			b.SetBytes(total)
			for b.Loop() {
				s, err := c.NewSession()
				if err != nil {
					b.Fatal(err)
				}
				s.Stdout = io.Discard
				if err := s.Run("true"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEcho is one key to the server and back.
func BenchmarkEcho(b *testing.B) {
	for name, out := range map[string]func(*Session) io.Writer{
		"call":    func(c *Session) io.Writer { return c },
		"channel": func(c *Session) io.Writer { return c.channel },
	} {
		b.Run(name, func(b *testing.B) {
			h := start(b, func(_ context.Context, c *Session) int {
				_, _ = io.Copy(out(c), c.Stdin)
				return 0
			})
			s, err := h.client().NewSession()
			if err != nil {
				b.Fatal(err)
			}
			stdin, _ := s.StdinPipe()
			stdout, _ := s.StdoutPipe()
			if err := s.Start("cat"); err != nil {
				b.Fatal(err)
			}
			key := make([]byte, 1)
			for b.Loop() {
				_, _ = stdin.Write(key)
				if _, err := io.ReadFull(stdout, key); err != nil {
					b.Fatal(err)
				}
			}
			stdin.Close()
		})
	}
}
