package clients

import (
	"time"

	"berth/sessions/lease"
	"berth/terminal/keyboard"
)

// pasting follows a member's paste whose end has not come. What another client types would be a part of it, and then its rest
// would be keys: each line end would send what is in the composer.
type pasting struct {
	by      string    // the member; empty without such a paste
	at      time.Time // when its last part came
	matched int       // how much of the next mark the last part ended with
	cut     bool      // Berth has ended it for another client: its rest is not typed
}

// restWithin is how long the rest of a paste may be silent. The client takes what comes later for keys.
const restWithin = keyboard.PasteHold - time.Second

// until is until when a client waits for another one's paste; zero: it doesn't.
func (p *pasting) until(client string) time.Time {
	if p.by == "" || p.by == client || p.cut {
		return time.Time{}
	}
	return p.at.Add(lease.DefaultCutAfter)
}

// bars reports whether the loop has to see what a client types.
func (p *pasting) bars(client string) bool { return p.cut || p.by != "" && p.by != client }

// typed takes in what a client types, and returns what of it is typed.
func (p *pasting) typed(client string, data []byte, now time.Time) []byte {
	if p.cut && now.Sub(p.at) >= restWithin {
		*p = pasting{}
	}
	if p.by != client {
		if p.by != "" { // the paste was cut
			return data
		}
		p.matched = 0
	}
	open, from := p.by == client, 0
	for i, b := range data {
		mark := keyboard.PasteStart
		if open {
			mark = keyboard.PasteEnd
		}
		switch b {
		case mark[p.matched]:
			p.matched++
		case mark[0]:
			p.matched = 1
		default:
			p.matched = 0
		}
		if p.matched < len(mark) {
			continue
		}
		if open = !open; p.cut {
			p.cut, from = false, i+1
		}
		p.matched = 0
	}
	if p.cut {
		from = len(data)
	}
	if p.by, p.at = "", now; open {
		p.by = client
	}
	return data[from:]
}
