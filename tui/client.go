package tui

import (
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"berth/terminal"
	"berth/terminal/keyboard"
)

// enter switches the client's terminal to the dashboard.
func (d *dashboard) enter() tea.Cmd {
	d.out = newOutput(d.Out)
	d.screen = newScreen(d.look)
	d.model.Redraw()
	d.resize()
	return d.out.send(d.screen.enter())
}

// listen sends the client's keys and changes of its window. It sends a key after Update has handled
// the last one, and reads nothing until then: that key may attach a session, which reads the rest.
func (d *dashboard) listen() {
	hold := time.NewTimer(time.Hour)
	defer hold.Stop()
	handled := make(chan bool, 1)
	var buf [4 << 10]byte
	for {
		for keys := 0; ; keys++ {
			k, whole := d.decoder.Next()
			for _, r := range d.decoder.TakeReplies() {
				d.program.Send(reply(r))
			}
			if !whole && keys > 0 {
				d.program.Send(quiet{})
			}
			if !whole {
				break
			}
			d.program.Send(typed{k, handled})
			select {
			case more := <-handled:
				if !more {
					return
				}
			case <-d.feed.Done():
				return
			}
		}
		var late <-chan time.Time // fires when the rest of a sequence doesn't come
		if wait := d.decoder.Hold(); wait > 0 {
			hold.Reset(wait)
			late = hold.C
		}
		select {
		case <-d.In.Ready():
			n, err, ok := d.In.TryRead(buf[:])
			if ok && n == 0 && err != nil {
				d.program.Send(ended{ErrGone})
				return
			}
			d.decoder.Feed(buf[:n])
		case <-late:
			d.decoder.Expire()
		case <-d.Resized:
			d.program.Send(resized{})
		case <-d.feed.Done():
			return
		}
	}
}

// takeReply handles a reply of the terminal.
func (d *dashboard) takeReply(r string) {
	if r == keyboard.Drawn {
		d.answers = true
		d.screen.answered++
		d.model.Shown(d.screen.answered, d.Now())
	}
	if light, ok := isLight(r); ok {
		d.model.SetLook(d.look, light)
		d.dirty = true
	}
}

// leave restores the client's terminal.
func (d *dashboard) leave(why error) error {
	out := d.out
	d.out = nil
	defer out.close()
	if errors.Is(why, ErrGone) {
		d.Hangup()
		return nil
	}
	patience := time.NewTimer(leaveTime)
	defer patience.Stop()
	d.In.Unread(d.awaitReplies())
	last := ""
	if d.leaving { // the result that leaving waited for
		last = terminal.Printable(d.model.flash.text)
	}
	if why != nil { // when ctx ended, sshd says the reason
		last = "the sessions keep running; come back with: ssh -t " + terminal.Printable(d.Address)
		if d.ctx.Err() == nil {
			last = fmt.Sprintf("berth: %s; %s", terminal.Printable(why.Error()), last)
		}
	}
	if out.drained(patience.C) {
		out.send(d.screen.leave(last))
		if out.drained(patience.C) {
			return nil
		}
	}
	d.Hangup()
	return ErrGone
}

// awaitReplies waits for the terminal's replies, which the next reader would take for typed text.
// It returns what was typed after the last key that Update handled.
func (d *dashboard) awaitReplies() []byte {
	patience := time.NewTimer(replyTime)
	defer patience.Stop()
	for rest := d.decoder.Rest(); ; {
		var replies []string
		rest, replies = keyboard.Sift(rest)
		for _, r := range replies {
			if r == keyboard.Drawn {
				d.screen.answered++
			}
		}
		if d.screen.answered >= d.screen.asked {
			return rest
		}
		select {
		case <-d.In.Ready():
			var buf [4 << 10]byte
			n, err, ok := d.In.TryRead(buf[:])
			if ok && err != nil {
				return rest
			}
			rest = append(rest, buf[:n]...)
		case <-patience.C:
			return rest
		}
	}
}
