package post

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"berth/sessions/notify"
	"berth/terminal"
)

// message is a notice as people read it on a phone. Only text has words of the agent. Each service gets
// it in a place of its own, escaped, so that it can't pretend to be a title or a command line.
type message struct {
	title  string
	text   string   // may have several lines
	lines  []string // command lines that answer; without an answer, the one that opens the session
	link   string   // ssh://, opens the dashboard in an app for ssh
	icon   string   // the name of an emoji
	urgent bool
}

// kinds has what messages say of each kind of notice: the title after the session's name, and the icon.
var kinds = map[string]struct{ title, icon string }{
	notify.KindPrompt: {"needs input", "question"},
	notify.KindError:  {"failed", "rotating_light"},
	notify.KindParked: {"has to wait", "hourglass"},
	notify.KindExited: {"has ended", "checkered_flag"},
	notify.KindIdle:   {"is idle", "zzz"},
	notify.KindReport: {"reports", "memo"},
	kindTest:          {"test", "white_check_mark"},
}

// mostLines is how many command lines a message has.
const mostLines = 2

func (b Body) message(ssh string) message {
	m := message{
		title: b.Session + " " + kinds[b.Kind].title, icon: kinds[b.Kind].icon, text: b.Text, link: link(ssh), lines: b.Respond,
		urgent: b.Kind == notify.KindPrompt || b.Kind == notify.KindError,
	}
	var report struct{ Kind string }
	if json.Unmarshal(b.Report, &report) == nil && report.Kind == "escalate" {
		m.title, m.urgent = b.Session+" asks for help", true
	}
	if len(m.lines) == 0 {
		m.lines = []string{b.Attach}
	}
	m.lines = m.lines[:min(len(m.lines), mostLines)]
	return m
}

// link is the address of "ssh -p 2222 agents@host" as a URL.
func link(ssh string) string {
	words, port := strings.Fields(ssh), ""
	if len(words) == 0 {
		return ""
	}
	if len(words) > 2 && words[1] == "-p" {
		port = ":" + words[2]
	}
	user, host, _ := strings.Cut(words[len(words)-1], "@")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return "ssh://" + user + "@" + host + port
}

// request is one try to send a notice by HTTP.
type request struct {
	url    string
	header map[string]string
	body   []byte
}

// requestOf makes the request for a rule that notifies by HTTP. data is the notice as JSON.
func requestOf(r notify.Rule, b Body, data []byte, ssh string, now time.Time) (request, error) {
	m := b.message(ssh)
	switch r.Service() {
	case notify.ServiceNtfy:
		return ntfy(r, m)
	case notify.ServiceSlack:
		return slack(r, m)
	case notify.ServiceTelegram:
		return telegram(r, m)
	}
	return webhook(r, b.ID, data, now)
}

// ntfy publishes a message to a topic (docs.ntfy.sh/publish). Title and command lines have no word of the
// agent, which has the body alone.
func ntfy(r notify.Rule, m message) (request, error) {
	type action struct {
		Action string `json:"action"`
		Label  string `json:"label"`
		Value  string `json:"value,omitempty"`
		URL    string `json:"url,omitempty"`
	}
	// JSON rather than ntfy's short form, whose commas and quotes would have to be escaped.
	actions, err := json.Marshal([]action{
		{Action: "copy", Label: "Copy command", Value: m.lines[0]},
		{Action: "view", Label: "Open in SSH app", URL: m.link},
	})
	if err != nil {
		return request{}, err
	}
	header := map[string]string{
		"Content-Type": "text/plain; charset=utf-8",
		"Title":        mime.QEncoding.Encode("utf-8", m.title),
		"Tags":         m.icon + ",berth",
		"Priority":     "default",
		"Click":        m.link,
		actionsHeader:  string(actions),
	}
	if m.urgent {
		header["Priority"] = "high"
	}
	if r.Token != "" {
		header["Authorization"] = "Bearer " + r.Token
	}
	text := m.text
	if strings.Contains(text, "\n") { // marked, so that no line of it looks like a command line
		text = "> " + strings.ReplaceAll(text, "\n", "\n> ")
	}
	return request{r.Ntfy, header, []byte(text + "\n\n" + strings.Join(m.lines, "\n"))}, nil
}

const actionsHeader = "Actions"

// slackEscapes are the characters that Slack reads as the start of a mention, a link or an entity.
var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slack posts to an incoming webhook (docs.slack.dev). The agent's words are plain_text in a block of their
// own: Slack reads no markup there.
func slack(r notify.Rule, m message) (request, error) {
	type text struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Emoji *bool  `json:"emoji,omitempty"`
	}
	type block struct {
		Type string `json:"type"`
		Text text   `json:"text"`
	}
	no := false
	body, err := encode(struct {
		Text        string  `json:"text"` // for the phone's notification
		Mrkdwn      bool    `json:"mrkdwn"`
		UnfurlLinks bool    `json:"unfurl_links"`
		UnfurlMedia bool    `json:"unfurl_media"`
		Blocks      []block `json:"blocks"`
	}{
		Text: slackEscapes.Replace(m.title + ": " + m.text),
		Blocks: []block{
			{"header", text{"plain_text", slackEscapes.Replace(m.title), &no}},
			{"section", text{"plain_text", slackEscapes.Replace(m.text), &no}},
			{"section", text{"mrkdwn", "```" + slackEscapes.Replace(strings.Join(m.lines, "\n")) + "```", nil}},
		},
	})
	return jsonRequest(r.Slack, body), err
}

// telegram calls sendMessage of the Bot API (core.telegram.org/bots/api). The agent's words are code, where
// Telegram finds no @mention and no link.
func telegram(r notify.Rule, m message) (request, error) {
	bot := strings.TrimRight(r.Telegram, "/")
	if !strings.Contains(bot, "/") {
		bot = "https://api.telegram.org/bot" + bot
	}
	text := "<b>" + html.EscapeString(m.title) + "</b>\n<code>" + html.EscapeString(m.text) + "</code>"
	for _, line := range m.lines {
		text += "\n<pre>" + html.EscapeString(line) + "</pre>"
	}
	body, err := encode(map[string]any{
		"chat_id": r.Chat, "text": text, "parse_mode": "HTML", "disable_notification": !m.urgent,
		"link_preview_options": map[string]bool{"is_disabled": true},
	})
	return jsonRequest(bot+"/sendMessage", body), err
}

// webhook posts the notice as JSON, signed as Standard Webhooks says if the rule has a secret.
func webhook(r notify.Rule, id string, data []byte, now time.Time) (request, error) {
	q := jsonRequest(r.URL, data)
	at := strconv.FormatInt(now.Unix(), 10)
	q.header["webhook-id"], q.header["webhook-timestamp"] = id, at
	if r.Secret == "" {
		return q, nil
	}
	key, err := r.Key()
	if err != nil {
		return q, err
	}
	sum := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(sum, "%s.%s.%s", id, at, data) // a hash takes every write
	q.header["webhook-signature"] = "v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil))
	return q, nil
}

func jsonRequest(url string, body []byte) request {
	return request{url, map[string]string{"Content-Type": "application/json"}, body}
}

// answerOf reads what a service says of a failure, and how long it asks to wait. Only the three services'
// own forms are shown: any other server could send the request back, with its secrets.
func answerOf(service string, answer *http.Response, body []byte) (says string, wait time.Duration) {
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		wait = time.Duration(min(seconds, 1<<20)) * time.Second
	}
	switch service {
	case notify.ServiceSlack:
		says = string(slackCode.Find(bytes.TrimSpace(body)))
	case notify.ServiceNtfy, notify.ServiceTelegram:
		var e struct {
			Error       string `json:"error"`
			Description string `json:"description"`
			Parameters  struct {
				RetryAfter int `json:"retry_after"`
			} `json:"parameters"`
		}
		if json.Unmarshal(body, &e) == nil {
			says = e.Error + e.Description
			wait = max(wait, time.Duration(min(max(e.Parameters.RetryAfter, 0), 1<<20))*time.Second)
		}
	}
	return says, wait
}

var slackCode = regexp.MustCompile(`^[a-z_]{1,40}$`)

// mostSaid bounds the words of a service in an error, in characters.
const mostSaid = 120

// refusal is the error for an answer that isn't a success. It has none of the rule's secrets.
func refusal(r notify.Rule, status int, says string) error {
	hidden := strings.NewReplacer(secretsOf(r)...)
	says = cut(terminal.Printable(hidden.Replace(says)), mostSaid)
	if says != "" {
		says = ": " + says
	}
	return fmt.Errorf("it was answered with status %d%s", status, says)
}

// secretsOf are the rule's secrets and their parts, each with what replaces it.
func secretsOf(r notify.Rule) (pairs []string) {
	for _, s := range []string{r.URL, r.Ntfy, r.Slack, r.Telegram, r.Token, r.Secret, r.Chat} {
		if s == "" {
			continue
		}
		pairs = append(pairs, s, "***")
		for _, part := range strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune("/?&=:@", c) }) {
			if len(part) >= leastSecret {
				pairs = append(pairs, part, "***")
			}
		}
	}
	return pairs
}

// mostText bounds a message's text, in characters. ntfy makes an attachment of a message over 4,096 bytes.
const mostText = 700

// textOf is the text that the rule's template makes of a notice; builtIn if it fails.
func textOf(r notify.Rule, builtIn string, data []byte) (string, error) {
	t, err := r.Template()
	if err != nil {
		return builtIn, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return builtIn, err
	}
	out := limited{most: mostText * 4}
	if err := t.Execute(&out, fields); err != nil && !errors.Is(err, errFull) {
		return builtIn, fmt.Errorf("the template of the text failed, so the built-in text was sent: %w", err)
	}
	if text := clean(out.b.String()); text != "" {
		return text, nil
	}
	return builtIn, nil // no service takes an empty text
}

// limited takes at most most bytes, so that a template that repeats itself ends.
type limited struct {
	b    strings.Builder
	most int
}

var errFull = errors.New("the text is too long")

func (l *limited) Write(data []byte) (int, error) {
	if room := l.most - l.b.Len(); len(data) > room {
		l.b.Write(data[:room])
		return room, errFull
	}
	return l.b.Write(data)
}

// clean makes the lines of a text printable, and bounds it.
func clean(s string) string {
	var lines []string
	for _, line := range strings.Split(strings.ToValidUTF8(s, ""), "\n") {
		lines = append(lines, strings.TrimRight(terminal.Printable(strings.ReplaceAll(line, "\t", " ")), " "))
	}
	return cut(strings.Trim(strings.Join(lines, "\n"), "\n"), mostText)
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// post sends one request.
func (w *web) post(ctx context.Context, r notify.Rule, q request) (again bool, wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.url, bytes.NewReader(q.body))
	if err != nil {
		return false, 0, errors.New("its URL can't be used")
	}
	for name, value := range q.header {
		req.Header.Set(name, value)
	}
	req.Header.Set("User-Agent", "berth/"+w.version)
	answer, err := w.client.Do(req)
	if err != nil {
		return unsent(err), 0, connection(err)
	}
	body := drain(answer.Body)
	switch s := answer.StatusCode; {
	case s >= 200 && s < 300:
		return false, 0, nil
	case s >= 300 && s < 400:
		return false, 0, fmt.Errorf("it was answered with a redirect (%d), which is not followed", s)
	case s == http.StatusBadRequest && q.header[actionsHeader] != "":
		delete(q.header, actionsHeader) // a server of before version 2.17 refuses the action "copy"
		return w.post(ctx, r, q)
	default:
		says, wait := answerOf(r.Service(), answer, body)
		return s == http.StatusTooManyRequests || s >= 500, wait, refusal(r, s, says)
	}
}
