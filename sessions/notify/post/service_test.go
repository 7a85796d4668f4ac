package post

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/sessions/notify"
)

const ssh = "ssh -p 2222 agents@host"

// hostile is what an agent may write to get out of its place in a message.
const hostile = "a\r\nPriority: urgent\nX: y\x00\x1b]0;t\a <!channel> <https://evil|ok> &lt;!here&gt; ```x``` *b* _i_ @channel\n</code></pre><b>x</b>" +
	" <a href=\"tg://user?id=1\">p</a> [l](http://e) \"},{\"action\":\"http\" =?utf-8?q?=0A?= \u202e\u200b 世界"

// sent is what a server gets for a notice by the rule, whose URL it is.
func sent(t *testing.T, rule func(at string) notify.Rule, b Body) (*http.Request, []byte) {
	t.Helper()
	var got *http.Request
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer s.Close()
	r := rule(s.URL)
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	data, wrong, err := b.finish(r, []string{"session-secret"})
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	q, err := requestOf(r, b, data, ssh, time.Unix(1674087231, 0))
	if err != nil {
		t.Fatal(err)
	}
	w := newWeb("v1")
	defer w.close()
	if _, _, err := w.post(t.Context(), r, q); err != nil {
		t.Fatal(err)
	}
	if got.Method != http.MethodPost || strings.Contains(string(body), "session-secret") {
		t.Errorf("%s %s", got.Method, body)
	}
	return got, body
}

// hostileBody is a prompt with the agent's words, as body makes it.
func hostileBody() Body {
	b := Body{
		ID: "prompt:01J-7", Kind: notify.KindPrompt, Session: "alpha", Text: "alpha asks: session-secret " + hostile, Prompt: &agent.Request{ID: "01J-7"},
		Respond: []string{ssh + " respond alpha --prompt 01J-7 accept", ssh + " respond alpha --prompt 01J-7 deny", "a third"}, Attach: "ssh -t agents@host attach alpha",
	}
	b.look = b.Respond
	return b
}

// lines are the command lines that a message must have.
var lines = hostileBody().Respond[:2]

// TestNtfy reads a message as ntfy's server does: headers may be MIME words, actions are JSON, and a body
// of more than 4,096 bytes would become an attachment.
func TestNtfy(t *testing.T) {
	b := hostileBody()
	b.Text = clean(b.Text + strings.Repeat("世", 5000))
	r, body := sent(t, func(at string) notify.Rule {
		return notify.Rule{On: []string{"prompt"}, Ntfy: at + "/topic", Token: "tk_1"}
	}, b)
	header := func(name string) string {
		words, err := new(mime.WordDecoder).DecodeHeader(r.Header.Get(name))
		if err != nil || len(r.Header.Values(name)) != 1 {
			t.Errorf("%s: %v %q", name, err, r.Header.Values(name))
		}
		return words
	}
	for name, want := range map[string]string{
		"Title": "alpha needs input", "Priority": "high", "Tags": "question,berth", "Click": "ssh://agents@host:2222", "Authorization": "Bearer tk_1",
		"Content-Type": "text/plain; charset=utf-8",
	} {
		if got := header(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for name := range r.Header {
		if !slices.Contains([]string{"Title", "Priority", "Tags", "Click", "Actions", "Authorization", "Content-Type", "Content-Length", "User-Agent", "Accept-Encoding"}, name) {
			t.Errorf("the header %s", name)
		}
	}
	var actions []struct{ Action, Label, Value, URL string }
	if err := json.Unmarshal([]byte(header("Actions")), &actions); err != nil || len(actions) != 2 || actions[0].Action != "copy" || actions[0].Value != lines[0] ||
		actions[1].Action != "view" || actions[1].URL != "ssh://agents@host:2222" || actions[0].Label == "" || actions[1].Label == "" {
		t.Errorf("%v %+v", err, actions)
	}
	if s := string(body); r.URL.Path != "/topic" || len(s) > 4096 || !strings.HasPrefix(s, "> alpha asks: *** a") || !strings.HasSuffix(s, "\n\n"+lines[0]+"\n"+lines[1]) ||
		strings.ContainsAny(s, "\x00\x1b\r\u202e\u200b") {
		t.Errorf("%s %d bytes: %q", r.URL.Path, len(s), s)
	}
}

// An ntfy server that doesn't know the action "copy" gets the message without actions.
func TestNtfyBeforeCopy(t *testing.T) {
	calls := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls++; r.Header.Get("Actions") != "" {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"code":40018,"http":400,"error":"invalid request: actions invalid; action 'copy' unknown"}`)
		}
	}))
	defer s.Close()
	r := notify.Rule{Ntfy: s.URL + "/t"}
	q, err := ntfy(r, hostileBody().message(ssh))
	if err != nil {
		t.Fatal(err)
	}
	w := newWeb("v1")
	defer w.close()
	if _, _, err := w.post(t.Context(), r, q); err != nil || calls != 2 {
		t.Errorf("%v, %d calls", err, calls)
	}
}

// TestSlack reads a message as Slack does: what is between < and > is a mention or a link, and & begins
// one of three entities.
func TestSlack(t *testing.T) {
	r, body := sent(t, func(at string) notify.Rule { return notify.Rule{On: []string{"prompt"}, Slack: at + "/services/T/B/X"} }, hostileBody())
	var got struct {
		Text        string
		Mrkdwn      *bool
		UnfurlLinks *bool `json:"unfurl_links"`
		Blocks      []struct {
			Type string
			Text struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal(body, &got); err != nil || r.Header.Get("Content-Type") != "application/json" || got.Mrkdwn == nil || *got.Mrkdwn || got.UnfurlLinks == nil || *got.UnfurlLinks {
		t.Fatalf("%v %s", err, body)
	}
	read := func(s string) string {
		for _, e := range regexp.MustCompile(`&[a-z]*;?|[<>]`).FindAllString(s, -1) {
			if !slices.Contains([]string{"&amp;", "&lt;", "&gt;"}, e) {
				t.Errorf("%q in %q", e, s)
			}
		}
		return html.UnescapeString(s)
	}
	if len(got.Blocks) != 3 {
		t.Fatalf("%s", body)
	}
	title, words, commands := got.Blocks[0].Text, got.Blocks[1].Text, got.Blocks[2].Text
	if title.Type != "plain_text" || title.Text != "alpha needs input" || len(title.Text) > 150 || words.Type != "plain_text" || len(words.Text) > 3000 ||
		commands.Type != "mrkdwn" || commands.Text != "```"+strings.Join(lines, "\n")+"```" {
		t.Errorf("%s", body)
	}
	for _, s := range []string{read(words.Text), read(got.Text)} {
		if !strings.Contains(s, "<!channel> <https://evil|ok> &lt;!here&gt;") {
			t.Errorf("%q", s)
		}
	}
}

// TestTelegram reads a message as parse_mode HTML does.
func TestTelegram(t *testing.T) {
	r, body := sent(t, func(at string) notify.Rule {
		return notify.Rule{On: []string{"prompt"}, Telegram: at + "/bot123:ABC", Chat: "-100123"}
	}, hostileBody())
	var got struct {
		ChatID  string `json:"chat_id"`
		Text    string
		Mode    string `json:"parse_mode"`
		Preview struct {
			Off bool `json:"is_disabled"`
		} `json:"link_preview_options"`
	}
	if err := json.Unmarshal(body, &got); err != nil || r.URL.Path != "/bot123:ABC/sendMessage" || got.ChatID != "-100123" || got.Mode != "HTML" || !got.Preview.Off {
		t.Fatalf("%v %s %s", err, r.URL, body)
	}
	tags := regexp.MustCompile(`<[^>]*>`)
	if all := strings.Join(tags.FindAllString(got.Text, -1), ""); all != "<b></b><code></code><pre></pre><pre></pre>" {
		t.Errorf("the tags %s", all)
	}
	if e := regexp.MustCompile(`&[^;]{0,9};?`).FindAllString(got.Text, -1); slices.ContainsFunc(e, func(e string) bool {
		return !slices.Contains([]string{"&lt;", "&gt;", "&amp;", "&#34;", "&#39;"}, e)
	}) {
		t.Errorf("the entities %s", e)
	}
	parts := tags.Split(got.Text, -1)
	if words := html.UnescapeString(parts[3]); parts[1] != "alpha needs input" || !strings.Contains(words, `</code></pre><b>x</b> <a href="tg://user?id=1">p</a>`) ||
		html.UnescapeString(parts[5]) != lines[0] || html.UnescapeString(parts[7]) != lines[1] {
		t.Errorf("%q", parts)
	}
	if q, err := telegram(notify.Rule{Telegram: "123:AB-c_d", Chat: "@me"}, message{}); err != nil || q.url != "https://api.telegram.org/bot123:AB-c_d/sendMessage" {
		t.Error(q.url, err)
	}
}

// TestWebhook verifies the signature as a receiver of Standard Webhooks does.
func TestWebhook(t *testing.T) {
	key := []byte("0123456789abcdef0123456789")
	r, body := sent(t, func(at string) notify.Rule {
		return notify.Rule{On: []string{"prompt"}, URL: at, Secret: "whsec_" + base64.StdEncoding.EncodeToString(key), Text: "{{.session}}: {{.kind}}"}
	}, hostileBody())
	sum := hmac.New(sha256.New, key)
	fmt.Fprintf(sum, "%s.%s.%s", r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), body)
	if want := "v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil)); r.Header.Get("webhook-signature") != want || r.Header.Get("webhook-id") != "prompt:01J-7" ||
		r.Header.Get("webhook-timestamp") != "1674087231" || strings.Contains(r.Header.Get("webhook-id"), ".") {
		t.Errorf("%v", r.Header)
	}
	var got Body
	if err := json.Unmarshal(body, &got); err != nil || got.Text != "alpha: prompt" || !slices.Equal(got.Respond, hostileBody().Respond) {
		t.Errorf("%v %s", err, body)
	}
	if r, _ := sent(t, func(at string) notify.Rule { return notify.Rule{On: []string{"prompt"}, URL: at} }, hostileBody()); r.Header.Get("webhook-signature") != "" {
		t.Error("signed without a secret")
	}
}

// TestTemplate: fields have the names that JSON has; what fails leaves the built-in text; nothing is endless.
func TestTemplate(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "alpha asks",
		"{{.session}} in {{index .tags 0}}": "alpha in ci",
		"{{with .prompt}}{{.type}}{{else}}nothing{{end}}":                 "permission",
		"one\n  two\x07 {{.text}}\u202e":                                  "one\n  two␇ alpha asks",
		`{{define "x"}}0123456789{{template "x"}}{{end}}{{template "x"}}`: strings.Repeat("0123456789", 100)[:mostText-1] + "…",
		"{{.sesion}}":       "alpha asks",
		"{{.failure.text}}": "alpha asks",
	} {
		b := Body{Session: "alpha", Tags: []string{"ci"}, Text: "alpha asks", Prompt: &agent.Request{Type: agent.PromptPermission}}
		_, wrong, err := b.finish(notify.Rule{Text: text}, nil)
		if failed := text == "{{.sesion}}" || text == "{{.failure.text}}"; err != nil || b.Text != want || failed != (wrong != nil) {
			t.Errorf("%q: %q, %v, %v", text, b.Text, wrong, err)
		}
	}
}

// TestAnswers: what a service says of a failure is shown, and no secret of the rule, even if it is sent back.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		rule   func(at string) notify.Rule
		status int
		body   string
		again  bool
		wait   time.Duration
		want   string
	}{
		{func(at string) notify.Rule { return notify.Rule{Slack: at + "/services/T0/B0/hush-hush"} }, 404, "no_service", false, 0, "status 404: no_service"},
		{func(at string) notify.Rule { return notify.Rule{Slack: at + "/services/T0/B0/hush-hush"} }, 404, "no hush-hush", false, 0, "status 404"},
		{func(at string) notify.Rule { return notify.Rule{Telegram: at + "/bot1:hush-hush", Chat: "-1009999"} }, 429,
			`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 9","parameters":{"retry_after":9}}`, true, 9 * time.Second,
			"status 429: Too Many Requests: retry after 9"},
		{func(at string) notify.Rule { return notify.Rule{Telegram: at + "/bot1:hush-hush", Chat: "-1009999"} }, 400,
			`{"ok":false,"description":"chat -1009999 not found by 1:hush-hush\n\u001b]0;x"}`, false, 0, "status 400: chat *** not found by 1:***␊␛]0;x"},
		{func(at string) notify.Rule { return notify.Rule{Ntfy: at + "/hush-hush", Token: "tk_hush"} }, 403,
			`{"code":40301,"http":403,"error":"forbidden for hush-hush with tk_hush"}`, false, 0, "status 403: forbidden for *** with ***"},
		{func(at string) notify.Rule { return notify.Rule{URL: at + "/hush-hush"} }, 500, `{"error":"POST /hush-hush"}`, true, 0, "status 500"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		r := c.rule(s.URL)
		b := hostileBody()
		q, err := requestOf(r, b, nil, ssh, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		w := newWeb("v1")
		again, wait, err := w.post(t.Context(), r, q)
		w.close()
		s.Close()
		if err == nil || err.Error() != "it was answered with "+c.want || again != c.again || wait != c.wait {
			t.Errorf("%v, %v, %s; want %q", err, again, wait, c.want)
		}
	}
}

func TestLink(t *testing.T) {
	for in, want := range map[string]string{
		"ssh -p 2222 agents@host": "ssh://agents@host:2222", "ssh agents@build.example.org": "ssh://agents@build.example.org", "ssh -p 2222 agents@::1": "ssh://agents@[::1]:2222",
	} {
		if got := link(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
