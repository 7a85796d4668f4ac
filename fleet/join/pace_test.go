package join

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestQuestionsWithoutEnd: a client without a token that asks all the time takes a bounded part of each second, and
// a few lines of the log.
func TestQuestionsWithoutEnd(t *testing.T) {
	var logged bytes.Buffer
	p := pace{log: slog.New(slog.NewTextHandler(&logged, nil))}
	now := time.Now()
	for second := range 3 {
		answered := 0
		for i := range 10 * questionsASecond {
			if p.question(now.Add(time.Duration(second)*time.Second + time.Duration(i)*time.Microsecond)) {
				answered++
				p.refused(errors.New("no token"))
			}
		}
		if answered != questionsASecond {
			t.Errorf("%d are answered", answered)
		}
	}
	if !p.question(now.Add(-time.Hour)) {
		t.Error("no answer after the clock was put back")
	}
	if n := strings.Count(logged.String(), "\n"); n != 3*refusalsASecond+3 || strings.Count(logged.String(), "left_out=4995") != 3 {
		t.Errorf("%d lines:\n%s", n, logged.String())
	}
}

// TestQuestionsOfHosts: hosts that join one after the other are all answered.
func TestQuestionsOfHosts(t *testing.T) {
	p := pace{log: slog.New(slog.DiscardHandler)}
	now := time.Now()
	for i := range 2000 {
		if !p.question(now.Add(time.Duration(i) * 3 * time.Millisecond)) {
			t.Fatalf("host %d gets no answer", i)
		}
	}
}
