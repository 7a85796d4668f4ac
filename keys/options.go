package keys

import (
	"fmt"
	"path"
	"strings"
	"time"
)

// option is one element of a key line's option list: a bare name, or a name
// with a value.
type option struct {
	name     string // lower case: OpenSSH compares names without regard to case
	value    string
	hasValue bool
}

// splitOptions takes the option list off the front of a line, as OpenSSH reads it: elements separated
// by commas, values in double quotes with only \" as an escape. The first blank outside of quotes
// ends the list.
func splitOptions(line string) (options []option, rest string, f *fault) {
	for {
		end := 0
		for end < len(line) && isOptionName(line[end]) {
			end++
		}
		if end == 0 {
			return nil, "", faultf("an option is a name such as restrict or a name with a quoted value such as role=\"viewer\"",
				"an option cannot begin with %s", quote(line[:min(len(line), 1)]))
		}
		o := option{name: strings.ToLower(line[:end])}
		line = line[end:]
		if strings.HasPrefix(line, "=") {
			value, after, f := dequote(o.name, line[1:])
			if f != nil {
				return nil, "", f
			}
			o.value, o.hasValue, line = value, true, after
		}
		options = append(options, o)
		switch {
		case strings.HasPrefix(line, ","):
			line = line[1:]
		case line == "" || line[0] == ' ' || line[0] == '\t':
			return options, strings.TrimLeft(line, " \t"), nil
		default:
			return nil, "", faultf("separate options with commas and end them with a blank",
				"unexpected %s after the option %s", quote(line[:1]), shown(o.name))
		}
	}
}

func isOptionName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// dequote reads a value in double quotes from the front of s.
func dequote(name, s string) (value, rest string, f *fault) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", faultf(`write the value as "..."`, "the value of %s isn't in double quotes", shown(name))
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			b.WriteByte('"')
			i++
		case s[i] == '"':
			return b.String(), s[i+1:], nil
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", faultf("close the value with a double quote", "the value of %s has no closing quote", shown(name))
}

// grants is the meaning of the options of one line.
type grants struct {
	role       Role // None if the line has no role=
	from       sources
	expires    time.Time
	command    string
	noPTY      bool
	sessions   []string
	verbs      []string
	noForward  bool
	authority  bool
	principals []string
	prefixes   string // of attached terminals; empty if the line has no prefix=
}

// noEffect are options that only restrict, or only grant, what Berth never grants: forwarding of an agent or of X11,
// and the user's rc file.
var noEffect = map[string]bool{
	"agent-forwarding": true, "no-agent-forwarding": true,
	"x11-forwarding": true, "no-x11-forwarding": true,
	"user-rc": true, "no-user-rc": true,
}

// noEffectValue are such options with a value. environment= is one of them because a client's
// environment never reaches a session.
var noEffectValue = map[string]string{
	"permitopen":   "no address is reached, and it also takes the hosts of a fleet",
	"permitlisten": "forwarding is never given",
	"tunnel":       "tunnels are never given",
	"environment":  "an SSH client's environment never reaches a session",
}

// readOptions turns an option list into grants. Options are applied in their order, as in OpenSSH, so
// that restrict,pty gives a PTY.
func readOptions(options []option) (g grants, notices []string, f *fault) {
	seen := map[string]bool{}
	for _, o := range options {
		if o.hasValue && seen[o.name] && noEffectValue[o.name] == "" {
			return g, nil, faultf("keep one of them", "%s= is given twice", o.name)
		}
		seen[o.name] = true
		notice, f := g.apply(o)
		if f != nil {
			return g, nil, f
		}
		if notice != "" {
			notices = append(notices, notice)
		}
	}
	if seen["permitopen"] { // in any order: it allows some addresses, and no host of a fleet is one
		g.noForward = true
	}
	if g.principals != nil && !g.authority {
		return g, nil, faultf("put it on a cert-authority line", "principals= is for certificates only")
	}
	return g, notices, nil
}

func (g *grants) apply(o option) (notice string, f *fault) {
	if why, ok := noEffectValue[o.name]; ok && o.hasValue {
		return fmt.Sprintf("%s= has no effect: %s", o.name, why), nil
	}
	if o.hasValue {
		return g.applyValue(o.name, o.value)
	}
	switch {
	case noEffect[o.name]:
		return "", nil
	case o.name == "restrict":
		g.noPTY, g.noForward = true, true
	case o.name == "no-pty":
		g.noPTY = true
	case o.name == "no-port-forwarding":
		g.noForward = true
	case o.name == "port-forwarding":
		g.noForward = false
	case o.name == "pty":
		g.noPTY = false
	case o.name == "cert-authority":
		g.authority = true
	case o.name == "no-touch-required":
		return "no-touch-required has no effect: a security key must always be touched", nil
	case o.name == "verify-required":
		// The SSH library checks the touch but doesn't return the flag for a PIN. Accepting the line without
		// that check would admit more than was asked for.
		return "", faultf("remove it, or use a key without it", "the server can't check verify-required")
	case valued[o.name]:
		return "", faultf(fmt.Sprintf(`write %s="..."`, o.name), "%s has no value", o.name)
	default:
		return "", unknownOption(o.name)
	}
	return "", nil
}

// valued are the options that applyValue knows.
var valued = map[string]bool{
	"role": true, "from": true, "expiry-time": true, "command": true, "principals": true,
	"sessions": true, "verbs": true, "prefix": true, "permitopen": true, "permitlisten": true, "tunnel": true, "environment": true,
}

func (g *grants) applyValue(name, value string) (notice string, f *fault) {
	switch name {
	case "role":
		g.role, f = readRole(value)
	case "from":
		g.from, f = parseSources(value)
	case "expiry-time":
		g.expires, f = parseExpiry(value)
	case "command":
		// An empty command would count as no forced command, which grants more than the line meant.
		if strings.TrimSpace(value) == "" {
			return "", faultf("name a verb, or leave the option out", "command= is empty")
		}
		g.command = value
	case "principals":
		g.principals, f = list(name, value, nil)
	case "prefix":
		var err error
		if g.prefixes, err = ParsePrefixes(value); err != nil {
			f = faultf("write a key such as prefix=\"ctrl-b\"", "prefix=: %v", err)
		}
	case "sessions":
		g.sessions, f = list(name, value, checkPattern)
	case "verbs":
		g.verbs, f = list(name, value, checkVerb)
		if f == nil {
			return accessNotice(g.verbs), nil
		}
	default:
		if noEffect[name] || name == "port-forwarding" || name == "no-port-forwarding" || name == "restrict" || name == "pty" || name == "no-pty" || name == "cert-authority" {
			return "", faultf("write it without =", "%s takes no value", name)
		}
		return "", unknownOption(name)
	}
	return "", f
}

func unknownOption(name string) *fault {
	return faultf("remove it: a line with an unknown option admits no key", "unknown option %s", shown(name))
}

// shown is an option's name in a message. A name longer than any option may be part of a private key
// that was put into the file by mistake.
func shown(name string) string {
	if len(name) > 24 {
		return fmt.Sprintf("of %d letters", len(name))
	}
	return name
}

func readRole(value string) (Role, *fault) {
	role, err := ParseRole(value)
	if err != nil {
		return None, faultf("write role=\"viewer\", \"responder\", \"operator\" or \"admin\"", "unknown role %s", quote(value))
	}
	return role, nil
}

// list splits a value at commas. An empty list is refused, because an empty list of rights means all
// rights.
func list(name, value string, check func(string) *fault) ([]string, *fault) {
	var out []string
	for _, e := range strings.Split(value, ",") {
		e = strings.TrimSpace(e)
		if e == "" {
			return nil, faultf("separate names with single commas", "%s= has an empty element", name)
		}
		if check != nil {
			if f := check(e); f != nil {
				return nil, f
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// checkPattern checks one element of sessions=: a pattern of session names for path.Match, or
// tag:PATTERN.
func checkPattern(p string) *fault {
	body := strings.TrimPrefix(p, "tag:")
	for _, r := range body {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-*?[]^:/@+", r)
		if !ok {
			return faultf("use letters, digits, . _ - and * ? [...]; tag:NAME for a tag", "sessions= has the pattern %s", quote(p))
		}
	}
	if _, err := path.Match(body, ""); err != nil || body == "" {
		return faultf("close the bracket or write the name out", "sessions= has the malformed pattern %s", quote(p))
	}
	return nil
}

func checkVerb(v string) *fault {
	for _, r := range v {
		if !(r >= 'a' && r <= 'z' || r == '-') {
			return faultf("write verbs as listed by berth help, separated by commas", "verbs= has %s", quote(v))
		}
	}
	return nil
}

func accessNotice(verbs []string) string {
	for _, v := range verbs {
		if accessVerbs[v] {
			return fmt.Sprintf("verbs= names %s, which a key with sessions= or verbs= never has", v)
		}
	}
	return ""
}
