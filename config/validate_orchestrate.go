package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"

	"berth/api"
	"berth/sessions/gates/begin"
	"berth/sessions/gates/gate"
	"berth/sessions/notify"
)

// Config is the gate in the form that sessions use.
func (g Gate) Config() (gate.Config, error) {
	c := gate.Config{Mode: gate.Mode(g.Mode), Text: g.Text, Cap: g.Cap}
	if g.Schema != nil {
		schema, err := json.Marshal(g.Schema)
		if err != nil {
			return c, err
		}
		c.Schema = schema
	}
	return c, c.Check()
}

// Begins are the start contexts in the form that sessions use.
func (s Session) Begins() begin.Config {
	var c begin.Config
	for source, one := range s.Start {
		c = c.With(begin.Source(source), &begin.Context{Text: one.Text, Run: one.Run})
	}
	return c
}

// Rules are the notification rules in the form that the server uses.
func Rules(list []Notify) []notify.Rule {
	var out []notify.Rule
	for _, n := range list {
		r := notify.Rule{
			Name: n.Name, Run: n.Run, URL: n.URL, Secret: n.Secret, Ntfy: n.Ntfy, Token: n.Token, Slack: n.Slack,
			Telegram: n.Telegram, Chat: n.Chat, Text: n.Text, Sessions: n.Sessions, Tags: n.Tags,
		}
		if n.Command != nil {
			r.Run = n.Command
		}
		if n.Webhook != "" {
			r.URL = n.Webhook
		}
		for _, word := range n.On {
			if c, err := notify.ParseCondition(word, ParseDuration); err == nil && c.Kind == notify.KindIdle {
				word = "idle>" + c.After.String() // 1d is a day
			}
			r.On = append(r.On, word)
		}
		out = append(out, r)
	}
	return out
}

// notify checks rules. Each has a name of its own, or none.
func (v *validation) notify(field string, list []Notify) {
	names := map[string]bool{}
	for i, r := range Rules(list) {
		at := fmt.Sprintf("%s[%d]", field, i)
		if list[i].Keyed {
			at = join(field, quoteKey(r.Name))
		}
		if err := r.Check(); err != nil {
			v.add(at, err.Error(), "")
		}
		if list[i].Command != nil && list[i].Run != nil || list[i].Webhook != "" && list[i].URL != "" {
			v.add(at, "run is the older name of command, and url of webhook", "give one of the two")
		}
		if names[r.ID()] {
			v.add(at, "a rule is already called "+quoteFree(r.ID()), "give it another name")
		}
		names[r.ID()] = true
	}
}

// messages checks who may send the session messages.
func (v *validation) messages(field string, s Session) {
	if s.Team != "" {
		if err := api.CheckTeam(s.Team); err != nil {
			v.add(join(field, "team"), err.Error(), "")
		}
	}
	for i, peer := range s.Peers {
		if err := api.CheckPeer(peer); err != nil {
			v.add(fmt.Sprintf("%s[%d]", join(field, "peers"), i), err.Error(), "")
		}
	}
}

// publicHost checks the address that clients connect to.
func (v *validation) publicHost(field, host string) {
	if host == "" {
		return
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, "22"
	}
	_, err = strconv.ParseUint(port, 10, 16)
	if err != nil || !hostName.MatchString(name) {
		v.add(field, quote(host)+" isn't a valid host", "write HOST or HOST:PORT, such as build.example.org:2222")
	}
}

// hostName matches what can follow @ in a command line unquoted.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$|^[0-9a-fA-F:]+$`)

// orchestrate checks the fields for orchestrators.
func (v *validation) orchestrate(field string, s Session) {
	if _, err := s.Gate.Config(); err != nil {
		v.add(join(field, "gate"), err.Error(), "write gate: auto, or gate: {mode: gate, text: ...}")
	}
	v.notify(join(field, "notify"), s.Notify)
	all := s.Begins()
	for _, source := range slices.Sorted(maps.Keys(all)) {
		if err := (begin.Config{source: all[source]}).Check(); err != nil {
			v.add(join(join(field, "start_context"), quoteKey(string(source))), err.Error(), "write startup, resume, clear, compact or any, each with text: ... or run: [...]")
		}
	}
}
