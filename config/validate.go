package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"berth/api"
	"berth/keys"
)

// Validate checks the values after their form was checked. The problems name fields; Load and
// Check add the places.
func (c *Config) Validate() []Problem {
	var v validation
	if _, port, err := net.SplitHostPort(c.Listen); err != nil {
		v.add("listen", quote(c.Listen)+" isn't a valid address", "write HOST:PORT, such as 127.0.0.1:2222 or :2222")
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		v.add("listen", quote(port)+" isn't a valid port", "write a number from 0 (any free one) to 65535")
	}
	v.oneOf("new", c.New, "any", NewProfiles)
	v.oneOf("local", c.Local, "admin", "operator", "responder", "viewer", LocalKey)
	v.oneOf("log_level", c.LogLevel, "debug", "info", "warn", "error")
	v.oneOf("log_format", c.LogFormat, "text", "json")
	if err := checkScrapes(c.ListenMetrics); err != nil {
		v.add("listen_metrics", quote(c.ListenMetrics)+" "+err.Error(), "write 127.0.0.1:PORT, [::1]:PORT or the absolute path of a Unix socket")
	}
	if _, err := keys.ParsePrefixes(c.Prefix); err != nil {
		v.add("prefix", err.Error(), "")
	}
	if !filepath.IsAbs(c.Worktrees) && !strings.HasPrefix(c.Worktrees, "~/") {
		v.add("worktrees", quote(c.Worktrees)+" isn't an absolute path", "write a folder that begins with / or ~/")
	}
	v.publicHost("public_host", c.PublicHost)
	v.fleet(c.Fleet)
	if _, err := c.Limits.Exempt(); err != nil {
		v.add("limits.penalty_exempt", err.Error(), "write addresses and networks, such as 10.0.0.0/8")
	}
	if c.Limits.PenaltyMost < c.Limits.PenaltyFrom {
		v.add("limits.penalty_most", "less than limits.penalty_from: no source would ever be refused", "give more")
	}
	v.ship(c.Audit.Ship)
	v.notify("notify", c.Notify)
	v.rules(c)
	v.sessions(c)
	return v.problems
}

// Validate checks a session's fields, from berth.yaml or from new. It refuses fields that have no
// effect yet.
func (s Session) Validate() []Problem {
	var v validation
	v.session("", s)
	return v.problems
}

type validation struct{ problems []Problem }

func (v *validation) add(field, text, remedy string) {
	v.problems = append(v.problems, Problem{Field: field, Text: text, Remedy: remedy})
}

func (v *validation) oneOf(field, value string, allowed ...string) {
	if slices.Contains(allowed, value) {
		return
	}
	remedy := "write " + strings.Join(allowed[:len(allowed)-1], ", ") + " or " + allowed[len(allowed)-1]
	if near := suggest(value, allowed); near != "" {
		remedy = "did you mean " + near + "?"
	}
	v.add(field, quote(value)+" isn't one of its values", remedy)
}

func (v *validation) sessions(c *Config) {
	v.session("defaults", c.Defaults)
	v.unnamed("defaults", c.Defaults)
	v.shared("defaults", c.Defaults)
	v.known("defaults", c, c.Defaults)
	if c.Defaults.Profile != "" {
		v.add("defaults.profile", "defaults can't have a profile", "remove it")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		field, p := "profiles."+quoteKey(name), c.Profiles[name]
		// new derives the name profile-xxxx, so leave room for that.
		if err := api.CheckName(name); err != nil {
			v.add(field, err.Error(), "")
		} else if len(name) > api.MaxProfile {
			v.add(field, fmt.Sprintf("the name of a profile has at most %d characters", api.MaxProfile), "sessions made from it are called "+name[:8]+"...-xxxx")
		}
		v.session(field, p)
		v.unnamed(field, p)
		v.shared(field, p)
		v.known(field, c, p)
		if p.Profile != "" {
			v.add(field+".profile", "a profile can't have a profile", "write the other profile's fields out")
		}
	}
	names := map[string]int{}
	for i, s := range c.Sessions {
		field := fmt.Sprintf("sessions[%d]", i)
		v.session(field, s)
		v.known(field, c, s)
		if s.Name == "" {
			v.add(field, "a session of berth.yaml needs a name", "add name: NAME")
		} else if first, twice := names[s.Name]; twice {
			v.add(field+".name", fmt.Sprintf("sessions[%d] already has the name %s", first, quote(s.Name)), "choose another")
		} else {
			names[s.Name] = i
		}
		if _, err := c.Resolve(s); err != nil {
			v.add(field+".profile", err.Error(), "")
		}
	}
}

func (v *validation) unnamed(field string, s Session) {
	if s.Name != "" {
		v.add(field+".name", "many sessions use this, and they can't share a name", "remove it")
	}
}

func (v *validation) session(field string, s Session) {
	at := func(name string) string { return join(field, name) }
	if s.Name != "" {
		if err := api.CheckName(s.Name); err != nil {
			v.add(at("name"), err.Error(), "")
		}
	}
	v.agent(field, s)
	if s.Command != nil && (len(s.Command) == 0 || s.Command[0] == "") {
		v.add(at("command"), "the command is empty", "write a list of the program and its arguments")
	}
	if s.Setup != nil && (len(s.Setup) == 0 || s.Setup[0] == "") {
		v.add(at("setup"), "the command is empty", "write a list of the program and its arguments")
	}
	v.environment(field, s)
	if s.SizePolicy != "" {
		v.oneOf(at("size_policy"), s.SizePolicy, "writer", "fixed", "smallest")
	}
	if s.Restart != "" {
		v.oneOf(at("restart"), s.Restart, "never", "on-failure", "always")
	}
	for i, tag := range s.Tags {
		if err := api.CheckTag(tag); err != nil {
			v.add(fmt.Sprintf("%s[%d]", at("tags"), i), err.Error(), "")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Meta)) {
		if err := api.CheckMeta(key, s.Meta[key]); err != nil {
			v.add(join(at("meta"), quoteKey(key)), err.Error(), "")
		}
	}
	v.messages(field, s)
	v.limits(at("limits"), s.Limits)
	v.children(at("children"), s.Children)
	v.orchestrate(field, s)
}

// maxChildren is more sessions than one agent can use at once.
const maxChildren = 1000

// children checks what can be checked without the profiles; see known.
func (v *validation) children(field string, c *Children) {
	if c == nil {
		return
	}
	if len(c.Profiles) == 0 {
		v.add(field+".profiles", "the list of profiles that the agent may start is missing", "list some, or remove children")
	}
	if c.Max <= 0 {
		v.add(field+".max", "the number of sessions that may run at once is missing", "give a number")
	}
	for name, n := range map[string]int{"starts": c.Starts, "keep": c.Keep, "depth": c.Depth, "total": c.Total} {
		if n < 0 || n > maxChildren {
			v.add(field+"."+name, fmt.Sprintf("%d is out of range", n), fmt.Sprintf("give a number from 1 to %d, or leave it out", maxChildren))
		}
	}
	if c.Lifetime < 0 {
		v.add(field+".lifetime", "the time is below 0", "write a time such as 2h, or leave it out")
	}
	for i, dir := range c.Cwd {
		if !filepath.IsAbs(dir) {
			v.add(fmt.Sprintf("%s.cwd[%d]", field, i), quote(dir)+" isn't an absolute path", "write the whole path")
		}
	}
	for i, verb := range c.Verbs {
		if !slices.Contains(keys.ChildVerbs(), verb) {
			v.add(fmt.Sprintf("%s.verbs[%d]", field, i), quote(verb)+" isn't a verb that an agent can be given", "write some of "+strings.Join(keys.ChildVerbs(), ", "))
		}
	}
}

// known checks that the profiles named under children exist.
func (v *validation) known(field string, c *Config, s Session) {
	if s.Children == nil {
		return
	}
	for i, name := range s.Children.Profiles {
		if _, ok := c.Profiles[name]; !ok {
			v.add(fmt.Sprintf("%s.profiles[%d]", join(field, "children"), i), "unknown profile "+quote(name)+c.profileHint(name), "")
		}
	}
}

// The least output and the most scrollback that a session may keep. One emulator row of 200 cells
// takes some kilobytes, so a million lines take gigabytes.
const (
	minOutput     = 1 * MiB
	maxScrollback = 1_000_000
)

func (v *validation) limits(field string, l SessionLimits) {
	if l.Output != 0 && l.Output < minOutput {
		v.add(field+".output", fmt.Sprintf("%s is too small for a screen", l.Output), "give at least "+minOutput.String())
	}
	if l.Scrollback > maxScrollback {
		v.add(field+".scrollback", fmt.Sprintf("%d lines are too many", l.Scrollback), fmt.Sprintf("give at most %d; limits.output keeps the rest", maxScrollback))
	}
}

// ownVariable says why a session can't set the variable.
const ownVariable = "Berth sets BERTH and all BERTH_* itself"

func (v *validation) environment(field string, s Session) {
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		at := join(join(field, "env"), quoteKey(name))
		switch {
		case !isEnvName(name):
			v.add(at, "not the name of a variable", "use letters, digits and _, not beginning with a digit")
		case api.OwnVariable(name):
			v.add(at, ownVariable, "remove it or choose another name")
		}
	}
	for i, name := range s.EnvPass {
		at := fmt.Sprintf("%s[%d]", join(field, "env_pass"), i)
		switch {
		case !isEnvName(name):
			v.add(at, quote(name)+" is not the name of a variable", "list names alone; values go into env")
		case api.OwnVariable(name):
			v.add(at, ownVariable, "remove it")
		}
	}
}

func isEnvName(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// checkScrapes says why the server doesn't listen for scrapes on that address. Their answers need no
// key, so that no other machine may ask for them.
func checkScrapes(address string) error {
	if address == "" || filepath.IsAbs(address) {
		return nil
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return errors.New("isn't IP:PORT or the absolute path of a socket")
	}
	if !at.Addr().IsLoopback() {
		return errors.New("isn't a loopback address: scrapes need no key, so every machine that reaches the port could read them")
	}
	return nil
}
