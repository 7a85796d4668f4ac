package sshd

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	ssh "charm.land/ssh"
	"charm.land/wish/v2/activeterm"
	"charm.land/wish/v2/bubbletea"
	gossh "golang.org/x/crypto/ssh"
)

// sizes shows the size of its terminal.
type sizes struct {
	cols, rows int
	seen       chan int
}

func (m sizes) Init() tea.Cmd { return nil }

func (m sizes) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		m.cols, m.rows = size.Width, size.Height
		select {
		case m.seen <- m.cols:
		default:
		}
	}
	return m, nil
}

func (m sizes) View() tea.View { return tea.NewView(fmt.Sprintf("%d x %d", m.cols, m.rows)) }

// Trap 3: wish's own middlewares run on a session, and a Bubble Tea program ends with the channel of
// its client, while the connection goes on.
func TestMiddlewaresOfWish(t *testing.T) {
	seen, ended := make(chan int, 200), make(chan struct{}, 2)
	chain := bubbletea.Middleware(func(ssh.Session) (tea.Model, []tea.ProgramOption) { return sizes{seen: seen}, nil })(
		func(ssh.Session) { ended <- struct{}{} })
	h := start(t, echo, func(o *Options) { o.Handler = activeterm.Middleware()(chain) })
	c := h.client()
	if out, err := newSession(t, c).CombinedOutput("x"); exitStatus(err) != 1 || !strings.Contains(string(out), "Requires an active PTY") {
		t.Errorf("without a terminal: %v %q", err, out)
	}
	s := newSession(t, c)
	if err := s.RequestPty("xterm", 24, 80, gossh.TerminalModes{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Shell(); err != nil {
		t.Fatal(err)
	}
	receive(t, "the first size", seen)
	for i := range 60 {
		if err := s.WindowChange(24, 100+i); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the last size is seen", func() bool { return receive(t, "a size", seen) == 159 })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	receive(t, "the program's end", ended)
	if _, _, err := c.SendRequest("keepalive@openssh.com", true, nil); err != nil {
		t.Errorf("the connection is gone: %v", err)
	}
}
