package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"berth/terminal"
)

// PlainOptions are those of RunPlain. Session, In and Out are needed.
type PlainOptions struct {
	Session Session

	In     Input     // lines to type; its end ends nothing but the typing
	Out    io.Writer // the screen and then its new lines, as UTF-8 text with LF
	Err    io.Writer // what is said beside it; nil is nowhere
	Hangup func()    // makes a blocked Write to Out return; called when ctx is done

	MayWrite bool // the key's rights
	ReadOnly bool
	Identity string
	Host     string // as in Options
	Clock    Clock  // nil is SystemClock
}

const (
	// settleTime is how long a line has to be left alone to count as written.
	settleTime = 200 * time.Millisecond
	// plainHistory is how far apart two looks may be without a line lost.
	plainHistory = 2000
	// lineLimit is the longest line that is typed in one piece.
	lineLimit = 64 << 10
)

// RunPlain attaches a client without a terminal: the screen as text once, then
// each line when it has settled, which is when it scrolled off or when the
// cursor is elsewhere and nothing has touched it for 200 ms. Lines that come in
// are typed with Enter. It ends with the session (ErrEnded), with ctx (its
// cause) or when Out fails (ErrClientGone). No goroutine outlives it.
func RunPlain(ctx context.Context, o PlainOptions) error {
	if o.Session == nil || o.In == nil || o.Out == nil {
		return errors.New("attach: Session, In and Out are needed")
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Err == nil {
		o.Err = io.Discard
	}
	member, err := o.Session.Join(ctx, Client{Identity: o.Identity, MayWrite: o.MayWrite && !o.ReadOnly})
	if err != nil {
		return fmt.Errorf("attach to %s: %w", o.Session.Name(), err)
	}
	defer member.Leave()
	fmt.Fprintf(o.Err, "berth: no terminal: you get %s as text, and lines you type are sent with Enter; "+
		"ssh -t %s attach %s gives the terminal itself\n", o.Session.Name(), o.Host, o.Session.Name())
	work, cancel := context.WithCancel(ctx)
	var typing sync.WaitGroup
	typing.Go(func() { typeLines(work, o, member) })
	defer func() {
		cancel()
		typing.Wait()
	}()
	if o.Hangup != nil {
		stop := context.AfterFunc(ctx, o.Hangup)
		defer stop()
	}
	return (&plain{PlainOptions: o, member: member}).run(ctx)
}

// plain follows a session as text.
type plain struct {
	PlainOptions
	member Member
	lines  settler
}

func (p *plain) run(ctx context.Context) error {
	for {
		st := p.member.Status()
		s, err := p.member.Snapshot(ctx, plainHistory)
		if err != nil {
			return err
		}
		text, lost := p.lines.look(s, p.Clock.Now(), st.Ended)
		if lost {
			fmt.Fprintf(p.Err, "berth: lines were skipped, %s prints too fast for this; "+
				"ssh %s output %s has every byte\n", p.Session.Name(), p.Host, p.Session.Name())
		}
		if len(text) > 0 {
			if _, err := io.WriteString(p.Out, strings.Join(text, "\n")+"\n"); err != nil {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				return ErrClientGone
			}
		}
		if st.Ended {
			fmt.Fprintf(p.Err, "berth: %s has ended: %s\n", p.Session.Name(), terminal.Printable(st.End))
			return ErrEnded
		}
		if err := p.pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits for a change, or for lines to have settled. Between two looks
// lies at least a frame, so that a flood costs no more than a look each.
func (p *plain) pause(ctx context.Context) error {
	rest, stop := p.Clock.Timer(frameTime)
	defer stop()
	changed, settled := p.member.Changed(), (<-chan time.Time)(nil)
	if p.lines.waiting {
		c, stop := p.Clock.Timer(settleTime)
		defer stop()
		settled = c
	}
	ready, rested := false, false
	for !ready || !rested {
		select {
		case <-rest:
			rested = true
		case <-changed:
			ready = true
		case <-settled:
			ready = true
		case n := <-p.member.Notices():
			switch n.Kind {
			case NoticeKicked:
				return &KickedError{Reason: n.Text}
			case NoticeDetached:
				fmt.Fprintf(p.Err, "berth: detached by %s\n", terminal.Printable(n.By))
				return &DetachedError{By: n.By}
			}
			if n.Text != "" {
				fmt.Fprintf(p.Err, "berth: %s\n", terminal.Printable(n.Text))
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// typeLines types what comes in, line by line.
func typeLines(ctx context.Context, o PlainOptions, m Member) {
	buf := make([]byte, 4<<10)
	var line []byte
	for {
		n, err := o.In.ReadContext(ctx, buf)
		for _, c := range buf[:n] {
			if c != '\n' && len(line) < lineLimit {
				line = append(line, c)
				continue
			}
			if c != '\n' {
				typeLine(ctx, o, m, line, "")
				line = append(line[:0], c)
				continue
			}
			typeLine(ctx, o, m, trimCR(line), "\r")
			line = line[:0]
		}
		if err != nil {
			if isEOF(err) && len(line) > 0 {
				typeLine(ctx, o, m, line, "\r")
			}
			return
		}
	}
}

func typeLine(ctx context.Context, o PlainOptions, m Member, line []byte, end string) {
	err := m.Type(ctx, append(append([]byte(nil), line...), end...))
	var busy *BusyError
	switch {
	case err == nil, ctx.Err() != nil:
	case errors.As(err, &busy):
		fmt.Fprintf(o.Err, "berth: not typed: %s is writing\n", terminal.Printable(busy.Writer.Name))
	default:
		fmt.Fprintf(o.Err, "berth: not typed: %v\n", err)
	}
}

func trimCR(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}
