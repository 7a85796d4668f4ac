package post

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/agent"
	"berth/sessions/command"
	"berth/sessions/notify"
	"berth/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// web posts to the server, and reports how one try ends.
func TestPost(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		again  bool
		wait   time.Duration
		wrong  string
	}{
		"taken":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, false, 0, ""},
		"refused": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, false, 0, "status 403"},
		"broken":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, true, 0, "status 503"},
		"busy": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "7"); w.WriteHeader(429) }, true, 7 * time.Second,
			"status 429"},
		"busy, without a time": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "soon")
			w.WriteHeader(429)
		}, true, 0,
			"status 429"},
		"sends everything back": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"error":"`+r.URL.String()+`","description":"`+r.URL.RawQuery+`"}`)
		}, false, 0, "status 400"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, false, 0, "redirect (307), which is not followed"},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, false, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || string(body) != `{"a":1}` || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.URL.Path != "/hook" {
					t.Errorf("%s %s %q %v", r.Method, r.URL.Path, body, err)
				}
				c.answer(w, r)
			}))
			defer s.Close()
			w := newWeb("v1")
			defer w.close()
			rule := notify.Rule{URL: s.URL + "/hook?token=hush-hush"}
			again, wait, err := w.post(t.Context(), rule, jsonRequest(rule.URL, []byte(`{"a":1}`)))
			if (err == nil) != (c.wrong == "") || err != nil && (!strings.HasSuffix(err.Error(), c.wrong) || strings.Contains(err.Error(), "hush")) {
				t.Errorf("%v, want %q", err, c.wrong)
			}
			if again != c.again || wait != c.wait {
				t.Errorf("again %v after %s, want %v after %s", again, wait, c.again, c.wait)
			}
		})
	}
}

// A service that no program listens for is tried again, one that hangs up isn't: it may have the notice.
// No error names a secret of the URL.
func TestNoAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	deaf := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	rude := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer rude.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer secure.Close()
	for at, want := range map[string]struct {
		again bool
		says  string
	}{
		"http://" + deaf:             {true, "it could not be reached: dial: connection refused"},
		"http://no-such.invalid":     {true, "its host was not found"},
		rude.URL:                     {false, "the connection failed"},
		secure.URL:                   {false, "its certificate isn't valid: x509: certificate signed by unknown authority"},
		"http://127.0.0.1:1\x7f/bad": {false, "its URL can't be used"},
	} {
		w := newWeb("v1")
		again, _, err := w.post(t.Context(), notify.Rule{URL: at}, request{url: at + "/hush-hush"})
		w.close()
		if err == nil || again != want.again || err.Error() != want.says {
			t.Errorf("%s: %v, %v, want %+v", at, again, err, want)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Setenv("SERVER_TOKEN", "hush-hush")
	out := filepath.Join(t.TempDir(), "out")
	p := &Poster{}
	if err := p.command(t.Context(), plain{}, []string{"sh", "-c", "cat > $0; env >> $0; echo \"$@\" >> $0", out, "a b; touch x"}, []byte("the body\n")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(data); !strings.HasPrefix(s, "the body\n") || strings.Contains(s, "hush") || !strings.Contains(s, "PATH=") || !strings.HasSuffix(s, "a b; touch x\n") {
		t.Errorf("%s", s)
	}
	if err := p.command(t.Context(), plain{}, []string{"false", "hush-hush"}, nil); err == nil || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
	if err := p.command(t.Context(), plain{}, []string{"/no/such/hush-hush"}, nil); err == nil || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
}

func TestHide(t *testing.T) {
	data, err := json.Marshal(map[string]string{"input": `curl -H "X: s3cr\et<1>" and short`})
	if err != nil {
		t.Fatal(err)
	}
	var same map[string]string
	if err := json.Unmarshal(hide(data, []string{"short", ""}), &same); err != nil || !strings.Contains(same["input"], "short") {
		t.Errorf("%v, %v", same, err)
	}
	plain, err := encode(map[string]string{"input": `curl -H "X: s3cr\et<1>"`})
	if err != nil {
		t.Fatal(err)
	}
	got := hide(plain, []string{`s3cr\et<1>`})
	if err := json.Unmarshal(got, &same); err != nil || same["input"] != `curl -H "X: ***"` {
		t.Errorf("%s, %v", got, err)
	}
}

// TestHideKeepsTheForm: what is hidden is in what is said, however that is
// escaped, and neither a name nor a number of the notice.
func TestHideKeepsTheForm(t *testing.T) {
	in := `{"kind":"report","bytes":123456,"report":{"kind":"x","message":"a \u003cto\/ken\u003e b 123456"},"list":["\"","a report-2","\\"]}`
	got := hide([]byte(in), []string{"report", "report-2", "123456", "<to/ken>", "bytes"})
	want := `{"kind":"***","bytes":123456,"report":{"kind":"x","message":"a *** b ***"},"list":["\"","a ***","\\"]}`
	if string(got) != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}

// TestLines: a notice offers an answer that allows something only if its text shows all of the prompt.
func TestLines(t *testing.T) {
	const ssh = "ssh -p 2222 agents@host"
	p := &Poster{o: Options{SSH: ssh}}
	command := func(input string) *agent.Request {
		r := &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Text: agent.Pointer("Install")}
		r.SetInput(input)
		return r
	}
	question := func(options ...string) *agent.Request {
		return &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "Which?", Options: options}}}
	}
	two := question("Red", "Green")
	two.Questions = append(two.Questions, two.Questions[0])
	part := command("a.txt")
	part.SetInPart()
	for name, c := range map[string]struct {
		r    *agent.Request
		want string
	}{
		"a command":                  {command("npm install"), "accept"},
		"with a field beside it":     {&agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Input: agent.Pointer("ls"), Text: agent.Pointer("workdir: \"/\"")}, "accept"},
		"with a long field":          {&agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Input: agent.Pointer("ls"), Text: agent.Pointer(strings.Repeat("word ", 80))}, ""},
		"of a subagent":              {&agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Agent: agent.Pointer("reviewer"), Input: agent.Pointer("ls")}, "accept"},
		"a question with options":    {&agent.Request{Type: agent.PromptQuestion, Text: agent.Pointer("Go on?"), Options: []string{"Wipe all", "Stop"}}, "option 1"},
		"of two lines":               {command("ls\nrm -rf x"), ""},
		"a long command":             {command("ls; " + strings.Repeat("a", 300)), ""},
		"with what isn't drawn":      {command("ls\u200b"), ""},
		"a part of a call":           {part, ""},
		"a question":                 {question("Red", "Green"), "option 1"},
		"with long options":          {question(strings.Repeat("Red", 99), "Green"), ""},
		"two questions":              {two, "answer 1=1 2=1"},
		"a form that was only seen":  {&agent.Request{Type: agent.PromptForm, Digest: "d1", Input: agent.Pointer("Name: Bob")}, "--digest d1 accept"}, // accept sends what it holds
		"a form with a schema":       {&agent.Request{Type: agent.PromptForm, Schema: []byte(`{"properties":{}}`)}, ""},
		"a notice without an answer": {&agent.Request{Type: agent.PromptNotice, Text: agent.Pointer("x")}, "deny"},
	} {
		c.r.ID = "01J-7"
		text := short(terminal.Printable(says(Body{Session: "alpha", Kind: notify.KindPrompt, Prompt: c.r})))
		want := ssh + " respond alpha --prompt 01J-7 " + c.want
		if c.want == "" {
			want = ssh + " prompt alpha"
		}
		if name == "of a subagent" && !strings.Contains(text, "reviewer") || name == "a question with options" && !strings.Contains(text, "1. Wipe all") {
			t.Errorf("%s: %q", name, text)
		}
		if got := p.lines("alpha", c.r, c.r.ShownIn(text)); got[0] != want || got[len(got)-1] != ssh+" respond alpha --prompt 01J-7 deny" {
			t.Errorf("%s: %q of %q", name, got, text)
		}
	}
	if s := short(strings.Repeat("é\n", 400)); len([]rune(s)) != mostLine || strings.Contains(s, "\n") {
		t.Error(s)
	}
}

// TestPiecesOfTheirOwn: a part of a prompt that is also a part of another one is shown.
func TestPiecesOfTheirOwn(t *testing.T) {
	const folder = `workdir: "/srv"`
	r := &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Input: agent.Pointer("echo '" + folder + "'; make"), Text: agent.Pointer(folder)}
	text := says(Body{Session: "alpha", Kind: notify.KindPrompt, Prompt: r})
	if text != "alpha asks: permission Bash: echo '"+folder+"'; make · "+folder || !r.ShownIn(text) || r.ShownIn(strings.TrimSuffix(text, " · "+folder)) {
		t.Errorf("%q", text)
	}
}

// TestAnswersBelowATemplate: a rule's own text offers an answer that allows something only if it has all of the built-in
// text. A secret that is hidden isn't shown.
func TestAnswersBelowATemplate(t *testing.T) {
	for _, c := range []struct {
		text, secret string
		answers      bool
	}{
		{"", "", true},
		{"{{.session}} in {{index .tags 0}}: {{.text}}", "", true},
		{"{{.session}} needs you", "", false},
		{"{{.prompt.tool}}", "", false},
		{"{{.text}}", "hush-hush", false},
		{"", "hush-hush", false},
		{"{{.nothing.at.all}}", "", true}, // it fails
	} {
		r := &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("Bash"), Input: agent.Pointer("echo hush-hush")}
		b := Body{Session: "alpha", Kind: notify.KindPrompt, Prompt: r, Tags: []string{"ci"}, Respond: []string{"accept"}, look: []string{"prompt"}}
		b.Text = short(says(b))
		data, _, err := b.finish(notify.Rule{Text: c.text}, []string{c.secret})
		if err != nil || strings.Contains(string(data), `"respond":["accept"]`) != c.answers || (b.message("ssh x").lines[0] == "accept") != c.answers {
			t.Errorf("%+v: %v, %s", c, err, data)
		}
	}
}

// plain runs a command as the server itself.
type plain struct{}

func (plain) Run(ctx context.Context, c command.Command) (command.Result, error) {
	return command.Run(ctx, c)
}
