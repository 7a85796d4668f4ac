package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Session is a program in a session of a host.
type Session struct {
	host *Host
	Name string
}

// New starts a program in a session. The program gets no variables of a terminal from the server's environment.
func (h *Host) New(ctx context.Context, name, dir, size string, env map[string]string, argv ...string) (*Session, error) {
	return h.NewAs(ctx, "generic", name, dir, size, env, argv...)
}

// NewAs is New with the driver of an agent. The caller must answer the agent's dialogs.
func (h *Host) NewAs(ctx context.Context, agent, name, dir, size string, env map[string]string, argv ...string) (*Session, error) {
	words := []string{"new", name, "--agent", agent, "--cwd", dir, "--size", size, "--size-policy", "fixed", "--groom", "manual"}
	for _, k := range slices.Sorted(maps.Keys(env)) {
		words = append(words, "--env", k+"="+env[k])
	}
	if _, err := h.Call(ctx, nil, append(append(words, "--"), argv...)...); err != nil {
		return nil, err
	}
	return &Session{h, name}, nil
}

// Known is a session that exists.
func (h *Host) Known(name string) *Session { return &Session{h, name} }

// Screen is the text of the session's screen.
func (s *Session) Screen(ctx context.Context) (string, error) {
	out, err := s.host.Call(ctx, nil, "screen", s.Name, "--text")
	return string(out), err
}

// Title is the terminal's title.
func (s *Session) Title(ctx context.Context) (string, error) {
	out, err := s.host.Call(ctx, nil, "screen", s.Name, "--json")
	if err != nil {
		return "", err
	}
	var screen struct{ Title string }
	err = json.Unmarshal(out, &screen)
	return screen.Title, err
}

// History is all events of the session, one a line, to examine a failed test.
func (s *Session) History(ctx context.Context) string {
	out, err := s.host.Call(ctx, nil, "watch", s.Name, "--since", s.Name+":0", "--timeout", "300ms")
	var failure *Failure
	if err != nil && !errors.As(err, &failure) { // it is ended by its timeout
		return err.Error()
	}
	return string(out)
}

// pollEvery is the time between two readings of a screen.
const pollEvery = 40 * time.Millisecond

// See waits until each pattern matches a line of the screen, and returns that
// screen. Several patterns must match the same screen.
func (s *Session) See(ctx context.Context, most time.Duration, patterns ...string) (string, error) {
	if err := s.wait(ctx, most, patterns[0]); err != nil {
		return "", err
	}
	return s.Until(ctx, most, "shows not all of "+strings.Join(patterns, " | "), func(screen string) bool { return matchesAll(screen, patterns) })
}

// Gone waits until a pattern matches no line of the screen.
func (s *Session) Gone(ctx context.Context, most time.Duration, pattern string) (string, error) {
	return s.Until(ctx, most, "still shows "+pattern, func(screen string) bool { return !matchesAll(screen, []string{pattern}) })
}

func (s *Session) wait(ctx context.Context, most time.Duration, pattern string) error {
	_, err := s.host.Call(ctx, nil, "wait", s.Name, "--text", pattern, "--timeout", most.String())
	if err != nil {
		screen, _ := s.Screen(ctx) // the first error is the one that counts
		return fmt.Errorf("wait for %q: %w\n%s", pattern, err, screen)
	}
	return nil
}

// Until reads the screen until is returns true. The error after a timeout contains otherwise.
func (s *Session) Until(ctx context.Context, most time.Duration, otherwise string, is func(string) bool) (string, error) {
	deadline := time.Now().Add(most)
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		screen, err := s.Screen(ctx)
		switch {
		case err != nil:
			return "", err
		case is(screen):
			return screen, nil
		case time.Now().After(deadline):
			return screen, fmt.Errorf("after %s the screen %s:\n%s", most, otherwise, screen)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func matchesAll(screen string, patterns []string) bool {
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).MatchString(screen) {
			return false
		}
	}
	return true
}

// Type writes bytes as they are, in one write.
func (s *Session) Type(ctx context.Context, text string) error {
	_, err := s.host.Call(ctx, []byte(text), "input", s.Name, "-")
	return err
}

// Press presses keys by name, all of one call in one write.
func (s *Session) Press(ctx context.Context, names ...string) error {
	_, err := s.host.Call(ctx, nil, append([]string{"keys", s.Name}, names...)...)
	return err
}

// Paste writes a text as a terminal pastes it.
func (s *Session) Paste(ctx context.Context, text string) error {
	return s.Type(ctx, "\x1b[200~"+text+"\x1b[201~")
}

// Exited waits for the program's end and returns its exit code.
func (s *Session) Exited(ctx context.Context, most time.Duration) (int, error) {
	if _, err := s.host.Call(ctx, nil, "wait", s.Name, "--until", "exited", "--timeout", most.String()); err != nil {
		screen, _ := s.Screen(ctx) // the first error is the one that counts
		return 0, fmt.Errorf("%w\n%s", err, screen)
	}
	out, err := s.host.Call(ctx, nil, "state", s.Name)
	if err != nil {
		return 0, err
	}
	var state struct {
		Exit *struct{ Code *int }
	}
	if err := json.Unmarshal(out, &state); err != nil {
		return 0, err
	}
	if state.Exit == nil || state.Exit.Code == nil {
		return 0, fmt.Errorf("%s has no exit code: %s", s.Name, out)
	}
	return *state.Exit.Code, nil
}
