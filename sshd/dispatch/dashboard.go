package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"berth/api"
	"berth/attach"
	"berth/commands"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/events"
	"berth/sshd"
	"berth/tui"
)

// dashboard shows the dashboard to a client with a terminal. If id isn't empty, that session is
// selected.
func (d *Dispatcher) dashboard(ctx context.Context, c *sshd.Session, r commands.Request, chosen string) int {
	id := r.Identity()
	if err := id.May("ls", keys.Viewer); err != nil {
		return d.Commands.Fail(ctx, r, err)
	}
	err := tui.Run(ctx, tui.Options{
		Host: host{d: d, call: c, request: r, rows: &tui.HostRows{Subject: d.Commands.Sessions.Subject}}, In: c.Input, Out: c, Hangup: c.Hangup, Window: c.Window, Resized: c.Resized(),
		Term: c.Terminal.Term, Env: c.Env(), Person: tui.Person{Name: id.Name, Role: roleOf(id)}, Address: d.address(c), Now: time.Now, Select: chosen,
	})
	if err == nil || errors.Is(err, tui.ErrGone) {
		return api.StatusDone
	}
	return api.CodeInternal.Status() // the connection or the server is ending, and the client has the reason
}

func roleOf(id keys.Identity) string {
	if id.Role == keys.None {
		return ""
	}
	return id.Role.String()
}

// canDraw says whether Berth can draw on a client's terminal.
func canDraw(p *sshd.Terminal) bool { return p != nil && p.Term != "" && p.Term != "dumb" }

// host is the dashboard's view of the server. It does everything through verbs, so that their
// rights and their audit apply. File alone isn't a verb: who may see the screen may see the file that
// an agent asks to change.
type host struct {
	d       *Dispatcher
	call    *sshd.Session
	request commands.Request
	rows    *tui.HostRows
}

func (h host) World() tui.World {
	list := h.d.Commands.Seen(h.request)
	w := tui.World{May: h.d.Commands.Rights(h.request), Sessions: make([]*sessions.Status, len(list))}
	for i, s := range list {
		w.Sessions[i] = s.Status()
	}
	w.Profiles, w.OwnCommand = h.d.Commands.MayStart(h.request)
	w.May[tui.Typing] = h.d.Commands.MayType(h.request)
	h.fleet(&w)
	return w
}

func (h host) Find(id string) (*sessions.Session, bool) {
	return h.d.Commands.SeenByID(h.request, id)
}

func (h host) File(ctx context.Context, id, path string) (text string, exists bool, err error) {
	s, ok := h.Find(id)
	if !ok || !h.d.Commands.Rights(h.request)["screen"] {
		return "", false, fmt.Errorf("read %s: the session isn't yours to see", api.Quote(path))
	}
	return s.FileText(ctx, path)
}

func (h host) Installed(ctx context.Context, ask bool) []sessions.Installed {
	return h.d.Commands.Installed(ctx, h.request, ask)
}

func (h host) Folders(ctx context.Context, profile, typed string) (sessions.Folders, error) {
	return h.d.Commands.Folders(ctx, h.request, profile, typed)
}

func (h host) Complete(line string) (from int, words []string) {
	return h.d.Commands.Complete(h.request, line)
}

func (h host) Events() *events.Log { return h.d.Commands.Sessions.Events() }

// Attach runs the verb attach with the same client.
func (h host) Attach(ctx context.Context, id string) error {
	r := h.request
	r.Line = "attach " + id
	if strings.Contains(id, "/") {
		return h.attachAway(r)
	}
	to, err := h.d.Commands.Attach(r)
	if err != nil {
		return err
	}
	end, err := h.d.Commands.Attached(r, to)
	if err != nil {
		return err
	}
	err = h.d.share(ctx, h.call, to)
	status := api.StatusDone
	if err != nil && !harmless(err) {
		status = api.AsError(err).Code.Status()
	}
	end(status, "")
	switch {
	case errors.Is(err, attach.ErrClientGone):
		return tui.ErrGone
	case errors.Is(err, attach.ErrDashboard):
		return nil
	case errors.Is(err, attach.ErrEnded):
		return errors.New(to.Session.Status().Name + " has ended: " + to.Session.Status().Exit.String())
	}
	return err
}

// person names a user whose preferences and seen states are kept.
func person(id keys.Identity) string {
	return strings.Join([]string{string(id.Kind), id.Name, id.Fingerprint}, " ")
}

func (h host) Seen() map[string]uint64 { return h.d.seen.Of(person(h.request.Identity())) }

func (h host) SetSeen(seen map[string]uint64) {
	listed := map[string]bool{}
	for _, s := range h.World().Sessions {
		listed[s.ID] = true
	}
	h.d.seen.Keep(person(h.request.Identity()), seen, func(id string) bool {
		_, ok := h.d.Commands.Sessions.Find(id)
		return ok || listed[id]
	})
}

func (h host) Choices() tui.Choices { return h.d.Choices.of(person(h.request.Identity())).Dashboard }

func (h host) SetChoices(was, now tui.Choices) {
	h.d.Choices.change(person(h.request.Identity()), func(p *chosen) { p.Dashboard.Change(was, now) })
}

// Run runs a verb as if it had come over the connection. It contains a panic: the dashboard calls it
// from a goroutine of its own, where the panic would end the server.
func (h host) Run(ctx context.Context, a tui.Act) (done tui.Done) {
	done = tui.Done{Act: a, Status: api.CodeInternal.Status()}
	defer func() {
		if p := recover(); p != nil {
			h.d.Log.Error("a verb of the dashboard panicked", "client", h.request.Client, "panic", p, "stack", string(debug.Stack()))
			done.Err = api.AsError(errors.New("panic")).Message
		}
	}()
	line, err := json.Marshal(a.Words)
	if err != nil {
		done.Err = err.Error()
		return done
	}
	var out, complaints tail
	r := h.request
	if a.Line != "" {
		line = []byte(a.Line)
	}
	r.Line, r.Terminal, r.In, r.Out, r.Err = string(line), a.Text, strings.NewReader(a.Stdin), &out, &complaints
	done.Status = h.run(ctx, r)
	done.Out, done.Err = out.String(), complaints.String()
	return done
}

// tail keeps the end of a verb's output.
type tail struct {
	bytes.Buffer
	cut bool
}

// tailLimit is how many bytes are kept: more is unreadable in a dashboard, and each client may ask.
const tailLimit = 1 << 20

func (t *tail) Write(p []byte) (int, error) {
	n, _ := t.Buffer.Write(p) // a Buffer never fails
	if over := t.Len() - tailLimit; over > 0 {
		t.Next(over)
		t.cut = true
	}
	return n, nil
}

func (t *tail) String() string {
	if !t.cut {
		return t.Buffer.String()
	}
	_, rest, _ := strings.Cut(t.Buffer.String(), "\n")
	return "(earlier output omitted)\n" + rest
}
