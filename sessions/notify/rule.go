// Package notify decides which notices to send when an agent waits, fails or reports. It has the
// rules, and a pure state machine (Machine) over the events and the clock. It does no I/O: package post
// feeds the machine and sends the notices.
package notify

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"
)

// Settles is how long an occasion must last before a notice is sent. Most prompts that a script answers
// are gone by then.
const Settles = 3 * time.Second

// Kinds of occasions.
const (
	KindPrompt = "prompt"
	KindError  = "error"
	KindParked = "parked"
	KindExited = "exited"
	KindIdle   = "idle"
	KindReport = "report"
)

// Rule says what to notify of, about which sessions, and how: by exactly one of Run, URL, Ntfy, Slack and
// Telegram. Most of these fields are secrets.
type Rule struct {
	Name     string   `json:"name,omitempty"`
	On       []string `json:"on"`                 // prompt, error, parked, exited, idle>10m, report, report:KIND
	Run      []string `json:"run,omitempty"`      // a command with the notice on its standard input
	URL      string   `json:"url,omitempty"`      // gets the notice by POST
	Secret   string   `json:"secret,omitempty"`   // whsec_BASE64: signs the POST to URL
	Ntfy     string   `json:"ntfy,omitempty"`     // the URL of a topic
	Token    string   `json:"token,omitempty"`    // access token for Ntfy
	Slack    string   `json:"slack,omitempty"`    // the URL of an incoming webhook
	Telegram string   `json:"telegram,omitempty"` // the token of a bot, or the URL of a bot on another Bot API server
	Chat     string   `json:"chat,omitempty"`     // to which Telegram's bot writes: an id or @CHANNEL
	Text     string   `json:"text,omitempty"`     // template of the text; empty: the built-in text
	Sessions []string `json:"sessions,omitempty"` // patterns of names; empty: all
	Tags     []string `json:"tags,omitempty"`     // patterns; one has to match; empty: all
}

// The ways to notify.
const (
	ServiceCommand  = "command"
	ServiceWebhook  = "webhook"
	ServiceNtfy     = "ntfy"
	ServiceSlack    = "slack"
	ServiceTelegram = "telegram"
)

// services are the ways that the rule names. A valid rule names one.
func (r Rule) services() (list []string) {
	for _, s := range []struct {
		name string
		set  bool
	}{
		{ServiceCommand, r.Run != nil}, {ServiceWebhook, r.URL != ""}, {ServiceNtfy, r.Ntfy != ""}, {ServiceSlack, r.Slack != ""}, {ServiceTelegram, r.Telegram != ""},
	} {
		if s.set {
			list = append(list, s.name)
		}
	}
	return list
}

// Service names how a valid rule notifies, such as ServiceNtfy.
func (r Rule) Service() string {
	if list := r.services(); len(list) == 1 {
		return list[0]
	}
	return ""
}

// Condition is one word of On.
type Condition struct {
	Kind   string
	After  time.Duration // of idle
	Report string        // of report: its kind, empty for any
}

// ParseCondition reads a word of On. duration reads the time after "idle>".
func ParseCondition(word string, duration func(string) (time.Duration, error)) (Condition, error) {
	wrong := fmt.Errorf("%q isn't a valid condition; use prompt, error, parked, exited, idle>10m, report or report:escalate", word)
	switch word {
	case KindPrompt, KindError, KindParked, KindExited, KindReport:
		return Condition{Kind: word}, nil
	}
	if kind, ok := strings.CutPrefix(word, "report:"); ok {
		if !slices.Contains([]string{"complete", "escalate", "continue", "status"}, kind) {
			return Condition{}, wrong
		}
		return Condition{Kind: KindReport, Report: kind}, nil
	}
	if after, ok := strings.CutPrefix(word, "idle>"); ok {
		d, err := duration(after)
		if err != nil || d < Settles {
			return Condition{}, fmt.Errorf("%q needs a time of %s or more, such as idle>10m", word, Settles)
		}
		return Condition{Kind: KindIdle, After: d}, nil
	}
	return Condition{}, wrong
}

// plain reads the durations that Go writes. The configuration also reads days.
func plain(s string) (time.Duration, error) { return time.ParseDuration(s) }

// Check says what is wrong with a rule.
func (r Rule) Check() error {
	if len(r.On) == 0 {
		return errors.New("the rule doesn't say when to notify; add on: [prompt, error, parked, exited, idle>10m, report:escalate]")
	}
	for _, word := range r.On {
		if _, err := ParseCondition(word, plain); err != nil {
			return err
		}
	}
	if err := r.checkService(); err != nil {
		return err
	}
	if _, err := r.Template(); err != nil {
		return fmt.Errorf("the text isn't a valid template: %w", err)
	}
	for _, p := range slices.Concat(r.Sessions, r.Tags) {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("%q isn't a valid pattern; use * ? and [a-z]", p)
		}
	}
	return nil
}

// The errors of checkService leave out the values, because most of them are secrets.
func (r Rule) checkService() error {
	list := r.services()
	if len(list) != 1 {
		return errors.New("give one of ntfy: URL, slack: URL, telegram: TOKEN, webhook: URL and command: [PROGRAM, ...]")
	}
	service := list[0]
	switch service {
	case ServiceCommand:
		if len(r.Run) == 0 || r.Run[0] == "" || slices.ContainsFunc(r.Run, func(w string) bool { return strings.ContainsRune(w, 0) }) {
			return errors.New("the command is empty, or has a NUL byte")
		}
	case ServiceTelegram:
		if _, isURL := webURL(r.Telegram); !isURL && !botToken.MatchString(r.Telegram) {
			return errors.New("telegram has to be a bot's token (DIGITS:LETTERS), or the https:// URL of a bot on another Bot API server")
		}
		if !chatName.MatchString(r.Chat) {
			return errors.New("telegram also needs chat: the number of a chat, or @CHANNEL")
		}
	default:
		to := r.URL + r.Ntfy + r.Slack // one of them
		u, ok := webURL(to)
		if !ok {
			return fmt.Errorf("the URL of %s has to begin with https:// or http:// and name a host", service)
		}
		if service == ServiceNtfy && strings.Trim(u.Path, "/") == "" {
			return errors.New("the URL of ntfy has to end in a topic, such as https://ntfy.sh/TOPIC")
		}
	}
	for _, of := range []struct{ field, value, service string }{{"chat", r.Chat, ServiceTelegram}, {"token", r.Token, ServiceNtfy}, {"secret", r.Secret, ServiceWebhook}} {
		if of.value != "" && of.service != service {
			return fmt.Errorf("%s belongs to %s, not to %s", of.field, of.service, service)
		}
	}
	if strings.ContainsFunc(r.Token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return errors.New("the token has a character that no token has")
	}
	if r.Secret != "" {
		if _, err := r.Key(); err != nil {
			return err
		}
	}
	return nil
}

var (
	botToken = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)
	chatName = regexp.MustCompile(`^(-?[0-9]+|@[A-Za-z0-9_]+)$`)
)

func webURL(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	return u, err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// leastKey is the length of the shortest key that Standard Webhooks allows, in bytes.
const leastKey = 24

// Key is what signs the POST to URL.
func (r Rule) Key() ([]byte, error) {
	text, ok := strings.CutPrefix(r.Secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < leastKey {
		return nil, fmt.Errorf("the secret has to be whsec_ and at least %d bytes in base64: echo whsec_$(openssl rand -base64 32)", leastKey)
	}
	return key, nil
}

// Template is the rule's text. It is executed with the notice as JSON has it, so that fields have the
// names that they have there.
func (r Rule) Template() (*template.Template, error) {
	return template.New("text").Option("missingkey=error").Parse(r.Text)
}

// ID is the rule's name, or a hash of its content.
func (r Rule) ID() string {
	if r.Name != "" {
		return r.Name
	}
	data, err := json.Marshal(r)
	if err != nil {
		return "rule" // strings always encode
	}
	sum := sha256.Sum256(data)
	return "rule-" + hex.EncodeToString(sum[:4])
}

// For returns the rules about a session: those of all sessions that match it, and its own. Notices are
// counted by the rule's id, so a rule of its own whose id is taken gets another one.
func For(name string, tags []string, all, own []Rule) []Rule {
	var list []Rule
	taken := map[string]bool{}
	add := func(r Rule) {
		taken[r.ID()] = true
		list = append(list, r)
	}
	for _, r := range all {
		if r.Of(name, tags) {
			add(r)
		}
	}
	for _, r := range own {
		switch {
		case !taken[r.ID()]:
			add(r)
		case r.Name != "": // a rule without a name and with the same id is the same rule
			r.Name = name + "/" + r.Name
			add(r)
		}
	}
	return list
}

// Of reports whether the rule is about a session with that name and those tags.
func (r Rule) Of(name string, tags []string) bool {
	any := func(patterns []string, words ...string) bool {
		return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
			return slices.ContainsFunc(words, func(w string) bool { ok, _ := path.Match(p, w); return ok })
		})
	}
	return any(r.Sessions, name) && any(r.Tags, tags...)
}
