package acp

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"berth/agent"
	"berth/api"
	"berth/commands"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/gates/transcript"
)

// from says which part of a conversation an editor gets when it opens a session.
type from bool

const (
	now      from = false
	replayed from = true
)

// mostReplayed bounds a replay, in bytes of the log.
const mostReplayed = 8 << 20

// opened is a session that the editor has opened. follow owns all fields below the lock's.
type opened struct {
	editor    *editor
	id        string
	session   *sessions.Session
	leave     context.CancelFunc
	left      <-chan struct{}
	running   atomic.Bool // a prompt of the editor
	cancelled atomic.Bool // the editor has cancelled it
	prompting sync.Mutex  // one prompt of the editor at a time

	mu     sync.Mutex // of what follows
	place  transcript.Place
	reader agent.TranscriptReader
	own    []string // texts of the editor's own prompts, which it shows itself
	last   string   // the agent's last reply that was sent
	calls  map[string]bool
	asked  string // id of the prompt that the editor was asked, and whether it is one for the terminal
	unask  context.CancelFunc
}

// follow opens a session: it sends the conversation up to now if that was asked for, and then what comes.
func (e *editor) follow(ctx context.Context, id string, what from) (*opened, error) {
	s, err := e.service.For(e.request, "transcript", id)
	if err != nil {
		return nil, err
	}
	if e.to.Session != "" { // also of a forced command
		if only, err := e.service.For(e.request, "state", e.to.Session); err != nil {
			return nil, err
		} else if only != s {
			return nil, api.Errorf(api.CodeNotFound, "this is the connection of %s alone: for %s run acp with its name, or without one", only.Status().Name, s.Status().Name)
		}
	}
	id = s.ID()
	store, err := s.Transcripts()
	if err != nil {
		return nil, err
	}
	reader := s.TranscriptReader()
	if reader == nil {
		return nil, api.Errorf(api.CodeNoDriver, "%s runs %s: Berth can't read its conversation", s.Status().Name, s.Status().Agent)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.open[id]; o != nil {
		if what == now {
			return o, nil
		}
		o.leave()
		delete(e.open, id)
	}
	if len(e.open) >= mostSessions {
		return nil, api.Errorf(api.CodeLimit, "%d sessions are open here: close one", mostSessions)
	}
	most := int64(0)
	if what == replayed {
		most = mostReplayed
	}
	place, err := store.Recent(most)
	if err != nil {
		return nil, err
	}
	o := &opened{editor: e, id: id, session: s, place: place, reader: reader, calls: map[string]bool{}}
	if what == replayed { // before the answer, as the protocol asks
		if err := o.read(ctx); err != nil {
			return nil, err
		}
	}
	following, leave := context.WithCancel(e.ctx)
	o.leave, o.left = leave, following.Done()
	e.open[id] = o
	e.following.Go(func() { o.run(following) })
	return o, nil
}

// lookEvery is how often the log is read while the agent works: no signal says that it has grown. An agent writes the last
// of a turn a moment after it, and a prompt's options may come later than the prompt: lateFor bounds that.
const (
	lookEvery = 300 * time.Millisecond
	lateFor   = 5 * time.Second
)

// grows says that the log may grow without a signal; ago is the time since the newest one.
func grows(state agent.State, ago time.Duration) bool {
	return state == agent.Working || state == agent.Starting || state != agent.Exited && ago < lateFor
}

// run follows the session until the editor leaves it.
func (o *opened) run(ctx context.Context) {
	defer func() { // as in guarded
		if p := recover(); p != nil {
			o.editor.service.Log.Error("panic", "method", "follow", "panic", p)
		}
	}()
	changed, stop := o.session.Subscribe()
	defer stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	defer o.withdraw("")
	signal := time.Now() // the newest
	for {
		st := o.session.Status()
		if o.read(ctx) != nil || o.ask(ctx, st) != nil {
			return // the session or the right to it is gone
		}
		var again <-chan time.Time
		if grows(st.Now, time.Since(signal)) {
			again = tick.C
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
			signal = time.Now()
			select { // a terminal that changes constantly is not read more often
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		case <-again:
		}
	}
}

// read sends what the log has after the last look. It fails when the caller may not read it any more.
func (o *opened) read(ctx context.Context) error {
	if _, err := o.editor.service.For(o.editor.request, "transcript", o.id); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	store, err := o.session.Transcripts()
	if err != nil {
		return nil // the agent has no log at the moment
	}
	place, err := store.After(ctx, o.place, func(l transcript.Line) error {
		for _, entry := range o.reader.Entries(l.Data) {
			if update, ok := o.update(entry); ok {
				if err := o.send(ctx, update); err != nil {
					return err
				}
			}
		}
		return nil
	})
	o.place = place
	if err != nil && ctx.Err() == nil {
		o.editor.service.Log.Debug("read a session's log for an editor", "session", o.id, "error", err)
	}
	return ctx.Err()
}

func (o *opened) send(ctx context.Context, u sdk.SessionUpdate) error {
	return o.editor.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: sdk.SessionId(o.id), Update: u})
}

// update is an entry of the log as the protocol has it.
func (o *opened) update(e agent.Entry) (sdk.SessionUpdate, bool) {
	text := strings.TrimRight(e.Text, "\n")
	switch e.Kind {
	case agent.EntryMessage:
		for i, own := range o.own {
			if strings.TrimSpace(own) == strings.TrimSpace(text) {
				o.own = append(o.own[:i:i], o.own[i+1:]...)
				return sdk.SessionUpdate{}, false
			}
		}
		return sdk.UpdateUserMessageText(text), text != ""
	case agent.EntryReply:
		o.last = text
		return sdk.UpdateAgentMessageText(text), text != ""
	case agent.EntryThought:
		return sdk.UpdateAgentThoughtText(text), text != ""
	case agent.EntryNotice:
		return sdk.UpdateAgentMessageText("[" + text + "]"), text != ""
	case agent.EntryCall:
		if o.calls[e.Call] {
			return sdk.SessionUpdate{}, false
		}
		if len(o.calls) > 10_000 {
			clear(o.calls)
		}
		o.calls[e.Call] = true
		title, kind := described(e.Tool, e.Subject)
		return sdk.StartToolCall(sdk.ToolCallId(e.Call), title, sdk.WithStartKind(kind), sdk.WithStartStatus(sdk.ToolCallStatusInProgress), sdk.WithStartRawInput(e.Input)), true
	case agent.EntryResult:
		status := sdk.ToolCallStatusCompleted
		if e.Failed {
			status = sdk.ToolCallStatusFailed
		}
		return sdk.UpdateToolCall(sdk.ToolCallId(e.Call), sdk.WithUpdateStatus(status),
			sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(text))})), true
	}
	return sdk.SessionUpdate{}, false
}

// mostTitle bounds the title of a tool's call, in characters.
const mostTitle = 200

// described is a tool's call on one line, and its kind.
func described(tool string, s *agent.Subject) (string, sdk.ToolKind) {
	kind, what := sdk.ToolKindOther, ""
	switch {
	case s == nil:
	case s.Command != "":
		kind, what = sdk.ToolKindExecute, s.Command
	case len(s.Changes) > 0:
		kind, what = sdk.ToolKindEdit, s.Changes[0].File
	}
	title := []rune(strings.Join(strings.Fields(tool+" "+what), " "))
	if len(title) > mostTitle {
		title = append(title[:mostTitle-1], '…')
	}
	return string(title), kind
}

// optionsTime is how long a prompt waits for its dialog before the editor is asked without its options.
const optionsTime = 500 * time.Millisecond

// ask asks the editor what the session asks, if the caller may answer it. When another one has answered,
// the editor's request is withdrawn.
func (o *opened) ask(ctx context.Context, st *sessions.Status) error {
	p := st.Request
	id := o.editor.request.Identity()
	switch {
	case p == nil || st.Now != agent.Prompt:
		o.withdraw("")
		return nil
	case id.May("respond", keys.Responder) != nil:
		return nil // a viewer isn't asked
	}
	if _, err := o.editor.service.For(o.editor.request, "prompt", o.id); err != nil {
		return err
	}
	asks := p.ID
	if p.Channel == agent.ChannelNone { // it may pass: the prompt is then asked
		asks += " at the terminal"
	}
	o.mu.Lock()
	again := o.asked == asks
	o.mu.Unlock()
	// The hook of a permission comes before its dialog, which has the options.
	hooked := p.Channel == "hook" && time.Since(p.Since.Time) > optionsTime
	if again || !p.Ready && !hooked {
		return nil
	}
	o.withdraw(asks)
	options := choices(p)
	if len(options) == 0 {
		return o.send(ctx, sdk.UpdateAgentMessageText("["+st.Name+" asks something that this client can't answer: berth respond, or attach "+st.Name+"]"))
	}
	asking, unask := context.WithCancel(ctx)
	o.mu.Lock()
	o.unask = unask
	o.mu.Unlock()
	o.editor.following.Go(func() {
		defer unask()
		answer, err := o.editor.conn.RequestPermission(asking, sdk.RequestPermissionRequest{
			SessionId: sdk.SessionId(o.id), Options: options, ToolCall: shown(st.Name, p),
		})
		if err != nil || answer.Outcome.Selected == nil {
			return // it was answered elsewhere, or the editor has cancelled
		}
		if answer.Outcome.Selected.OptionId == leave {
			_ = o.send(o.editor.ctx, sdk.UpdateAgentMessageText("["+st.Name+" waits for an answer: berth respond "+st.Name+", or attach "+st.Name+"]")) // the editor may be gone
			return
		}
		words := append([]string{"respond", "--json", "--prompt=" + p.ID, "--digest=" + p.Digest, o.id}, strings.Fields(string(answer.Outcome.Selected.OptionId))...)
		if err := o.editor.verb(o.editor.ctx, "", nil, words...); err != nil && asking.Err() == nil {
			o.withdraw("")                                                                                       // it is asked again, if the session still asks
			_ = o.send(o.editor.ctx, sdk.UpdateAgentMessageText("[not answered: "+api.AsError(err).Message+"]")) // the editor may be gone
		}
	})
	return nil
}

// withdraw ends the request that the editor has, unless it is for what is asked now.
func (o *opened) withdraw(asks string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asked != asks && o.unask != nil {
		o.unask()
		o.unask = nil
	}
	o.asked = asks
}

// shown is all that a prompt asks, as a tool's call. Editors render its text as Markdown, and
// draw no comment and no link's address. So the text is a block of code, and its marks are longer than any in
// the text.
func shown(name string, p *agent.Request) sdk.ToolCallUpdate {
	title := commands.InLine(strings.Join(strings.Fields(p.About()), " "))
	if r := []rune(title); len(r) > mostTitle {
		title = string(r[:mostTitle-1]) + "…"
	}
	pending := sdk.ToolCallStatusPending
	kind := sdk.ToolKindOther // without one, clients guess it by the title's first word, and allow what they take for reading
	asked, fence := commands.Asked(name, p), "```"
	for strings.Contains(asked, fence) {
		fence += "`"
	}
	return sdk.ToolCallUpdate{
		ToolCallId: sdk.ToolCallId("prompt-" + p.ID), Title: &title, Status: &pending, Kind: &kind,
		Content: []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(fence + "text\n" + asked + fence))},
	}
}
