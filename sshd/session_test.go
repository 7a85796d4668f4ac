package sshd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

// echo serves a few commands by their first word.
func echo(_ context.Context, c *Session) int {
	word, rest, _ := strings.Cut(c.RawCommand(), " ")
	switch word {
	case "cat":
		_, _ = io.Copy(c, c.Stdin)
	case "fail":
		fmt.Fprintln(c.Stderr(), "failed")
		return 7
	default:
		fmt.Fprintf(c, "[%s|%s|%s]", c.User(), word, rest)
	}
	return 0
}

func TestRealClient(t *testing.T) {
	h := start(t, echo)
	if r := h.ssh("", "bob@127.0.0.1", "say", "it's", "  two  "); r.out != "[bob|say|it's   two  ]" || r.status != 0 {
		t.Errorf("%+v", r)
	}
	if r := h.ssh("", "bob@127.0.0.1", "fail"); r.err != "failed\n" || r.status != 7 {
		t.Errorf("%+v", r)
	}
	big := strings.Repeat("0123456789abcde\n", 1<<16)
	if r := h.ssh(big, "bob@127.0.0.1", "cat"); r.out != big || r.status != 0 {
		t.Errorf("1 MB of input: %d bytes back, status %d", len(r.out), r.status)
	}
}
