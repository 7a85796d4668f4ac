package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"berth/api"
	"berth/commands"
	"berth/tui"
)

// run runs a line here, or on the hosts of the sessions that it names.
func (h host) run(ctx context.Context, r commands.Request) int {
	if h.d.Reach == nil {
		return h.d.Commands.Run(ctx, r)
	}
	to, err := h.d.Commands.Route(r, "")
	switch {
	case err != nil:
		return h.d.Commands.Fail(ctx, r, err)
	case !to.Away():
		return h.d.Commands.Run(ctx, r)
	case len(to.Hosts) == 1 && !to.Here:
		return h.d.exec(ctx, h.call, r, to, to.Hosts[0])
	}
	return h.d.spread(ctx, h.call, r, to)
}

// attachAway runs the verb attach on another host with the same client. The client's terminal has what the host says
// at the end, and the dashboard says why the attachment failed.
func (h host) attachAway(r commands.Request) error {
	to, err := h.d.Commands.Route(r, "")
	if err != nil {
		return err
	}
	var said tail
	r.Err = &said
	status := api.StatusDone
	if to.Away() {
		status = h.d.carry(h.call, r, to)
	} else {
		err = api.Errorf(api.CodeNotFound, "the session is gone")
	}
	switch why := strings.TrimSpace(strings.TrimPrefix(said.String(), "berth: ")); {
	case h.call.Context().Err() != nil:
		return tui.ErrGone
	case err == nil && status != api.StatusDone:
		return errors.New(cmp.Or(why, fmt.Sprintf("attach ended with status %d", status)))
	}
	return err
}

// Fill asks a session's host for its whole prompt. What fails leaves the prompt as it is: the card says that it may
// lack a part.
func (h host) Fill(ctx context.Context, id string) {
	done := h.Run(ctx, tui.Act{Kind: "prompt", Session: id, Words: []string{"prompt", id, "--full"}})
	if whole := commands.WholePrompt([]byte(done.Out)); done.Status == api.StatusDone && whole != nil {
		h.rows.Fill(id, whole)
	}
}

// fleet adds the fleet to what the person sees at its gateway.
func (h host) fleet(w *tui.World) {
	others, id := h.d.Commands.OtherHosts(h.request), h.request.Identity()
	if others == nil {
		return
	}
	own := h.d.Commands.Fleet.Name()
	w.Hosts = []tui.FleetHost{{Name: own, Own: true, Reachable: true}}
	for _, one := range others {
		seen := false
		for _, row := range h.rows.Of(one.Name, one.Reachable, one.Sessions) {
			if !id.SeesOn(one.Name, row.From.Session, row.From.Tags) {
				continue
			}
			seen = true
			w.Sessions = append(w.Sessions, row.Status)
			if row.Cut {
				if w.Cut == nil {
					w.Cut = map[string]bool{}
				}
				w.Cut[row.Status.ID] = true
			}
		}
		if seen || len(id.Sessions) == 0 { // a narrowed key learns of no host but those of its sessions
			w.Hosts = append(w.Hosts, tui.FleetHost{Name: one.Name, Reachable: one.Reachable, Draining: one.Draining, Since: one.Since})
		}
	}
	for i, s := range w.Sessions {
		if !strings.Contains(s.ID, "/") {
			named := *s
			named.Name = own + "/" + s.Name
			w.Sessions[i] = &named
		}
	}
}
