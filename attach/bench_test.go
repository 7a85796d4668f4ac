package attach

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"berth/terminal"
	"berth/terminal/paint"
)

// BenchmarkFrame draws a screen of 200x50 with every row new.
func BenchmarkFrame(b *testing.B) {
	for _, rows := range []int{1, 50} {
		b.Run(fmt.Sprintf("%d rows", rows), func(b *testing.B) {
			t := terminal.New(terminal.Options{Cols: 200, Rows: 50})
			canvas := newCanvas(paint.Look{Depth: paint.DepthTrue, UTF8: true}, 200, 50)
			var c crop
			var out []byte
			for i := range b.N {
				b.StopTimer()
				for y := range rows {
					t.Write(fmt.Appendf(nil, "\x1b[%d;1H\x1b[3%dm%s", y+1, i%8, strings.Repeat(string(rune('a'+i%26)), 150)))
				}
				s := t.Snapshot(0)
				b.StartTimer()
				view, cur := c.view(s, 200, 50)
				out = canvas.draw(out[:0], view, cur)
			}
			b.SetBytes(int64(len(out)))
		})
	}
}

// lastByte waits until a byte has arrived.
type lastByte struct {
	want byte
	c    chan struct{}
}

func (l *lastByte) Write(p []byte) (int, error) {
	if bytes.IndexByte(p, l.want) >= 0 {
		l.c <- struct{}{}
	}
	return len(p), nil
}

// BenchmarkEcho is a byte of output from the session's write to the client's.
func BenchmarkEcho(b *testing.B) {
	s := newFakeSession(80, 24)
	r, w := io.Pipe()
	defer w.Close()
	pump := NewPump(r)
	defer pump.Close()
	out := &lastByte{want: 0x08, c: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Run(ctx, Options{Session: s, In: pump, Out: out, Window: func() (int, int) { return 80, 24 }, Term: "xterm-256color", MayWrite: true})
	}()
	eventually(b, func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.queues) == 0 {
			return "no client follows"
		}
		return ""
	})
	for b.Loop() {
		s.write([]byte("\b"))
		<-out.c
	}
	cancel()
	<-done
}
