package acp

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/commands"
)

// An editor that doesn't read its answers isn't read without end either.
func TestPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var in strings.Builder
		for i := range 3 * mostUnanswered {
			fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"session/list"}`+"\n", i)
			fmt.Fprintln(&in, `{"jsonrpc":"2.0","method":"session/cancel"}`) // it has no answer
		}
		p := newPaced(ctx, strings.NewReader(in.String()), io.Discard)
		close(p.ready)
		requests := 0
		read := make(chan error)
		go func() {
			buf := make([]byte, 1<<10)
			for {
				n, err := p.Read(buf)
				if strings.Contains(string(buf[:n]), `"id"`) {
					requests++
				}
				if err != nil {
					read <- err
					return
				}
			}
		}()
		synctest.Wait()
		if requests != mostUnanswered {
			t.Errorf("%d requests were read without an answer, want %d", requests, mostUnanswered)
		}
		for i := range 5 {
			if _, err := fmt.Fprintf(p, `{"jsonrpc":"2.0","id":%d,"result":{}}`+"\n", i); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(p, `{"jsonrpc":"2.0","method":"session/update"}`+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if requests != mostUnanswered+5 {
			t.Errorf("%d requests were read after 5 answers, want %d", requests, mostUnanswered+5)
		}
		cancel()
		if err := <-read; err != io.EOF {
			t.Error(err)
		}
	})
}

// A client that asks and closes its input gets its answers. One that is never answered isn't waited for without end.
func TestAnswersAfterTheEnd(t *testing.T) {
	for _, answers := range []int{0, 1, 2} {
		synctest.Test(t, func(t *testing.T) {
			ask := `{"jsonrpc":"2.0","id":1,"method":"session/list"}` + "\n"
			p := newPaced(t.Context(), strings.NewReader(ask+ask), io.Discard)
			close(p.ready)
			begun := time.Now()
			go func() {
				for range answers {
					time.Sleep(time.Second / 2)
					_, _ = io.WriteString(p, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n") // io.Discard
				}
			}()
			if _, err := io.ReadAll(p); err != nil {
				t.Error(err)
			}
			want := answersWithin
			if answers == 2 {
				want = time.Second
			}
			if took := time.Since(begun); took != want {
				t.Errorf("with %d of 2 answers the input ended after %v, want %v", answers, took, want)
			}
		})
	}
}

func TestLongLine(t *testing.T) {
	p := newPaced(t.Context(), strings.NewReader(strings.Repeat("x", mostLine+1)+"\n"), io.Discard)
	close(p.ready)
	if _, err := p.Read(make([]byte, 10)); err == nil {
		t.Error("a line longer than mostLine was read")
	}
}

// An editor that leaves at once ends without a fault, also for the race detector.
func TestLeaves(t *testing.T) {
	for range 50 {
		if err := Serve(t.Context(), nil, commands.Request{}, commands.Served{}, nil, strings.NewReader("no JSON\n"), io.Discard); err != nil {
			t.Fatal(err)
		}
	}
}
