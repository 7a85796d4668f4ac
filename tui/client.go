package tui

import (
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"berth/terminal"
	"berth/terminal/keyboard"
)

// enter takes the terminal.
func (d *dashboard) enter() tea.Cmd {
	d.out = newOutput(d.Out)
	d.screen = newScreen(d.look)
	d.model.Redraw()
	d.resize()
	return d.out.send(d.screen.enter())
}

// listen sends what the client types and how large its window is. A key is sent when the last one
// was obeyed: until then nothing is read, for a session may have been attached that reads.
func (d *dashboard) listen() {
	hold := time.NewTimer(time.Hour)
	defer hold.Stop()
	obeyed := make(chan bool, 1)
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
			d.program.Send(typed{k, obeyed})
			select {
			case more := <-obeyed:
				if !more {
					return
				}
			case <-d.feed.Done():
				return
			}
		}
		var late <-chan time.Time // the rest of what has begun
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

// heard takes in what the terminal has answered.
func (d *dashboard) heard(r string) {
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

// leave gives the terminal back.
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
	d.awaitReplies()
	d.In.Unread(d.decoder.Rest())
	last := ""
	if d.leaving { // what it waited for
		last = terminal.Printable(d.model.flash.text)
	}
	if why != nil { // of an end from outside the edge says the reason
		last = "the sessions go on; come back with: ssh -t " + terminal.Printable(d.Address)
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

// awaitReplies waits for what the terminal was asked, which would else be taken
// for typed text by whoever has it next.
func (d *dashboard) awaitReplies() {
	patience := time.NewTimer(replyTime)
	defer patience.Stop()
	var kept []byte
	defer func() { d.decoder.Feed(kept) }()
	for d.screen.answered < d.screen.asked {
		select {
		case <-d.In.Ready():
			var buf [4 << 10]byte
			n, err, ok := d.In.TryRead(buf[:])
			if ok && err != nil {
				return
			}
			var replies []string
			kept, replies = keyboard.Sift(append(kept, buf[:n]...))
			for _, r := range replies {
				if r == keyboard.Drawn {
					d.screen.answered++
				}
			}
		case <-patience.C:
			return
		}
	}
}
