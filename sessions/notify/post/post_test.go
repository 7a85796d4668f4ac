package post

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/agent"
	"berth/sessions/command"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick makes the pauses between tries short.
func quick(t *testing.T) {
	before := tries
	tries = []time.Duration{0, time.Millisecond, time.Millisecond}
	t.Cleanup(func() { tries = before })
}

func TestPost(t *testing.T) {
	quick(t)
	for name, c := range map[string]struct {
		answer func(n int64, w http.ResponseWriter, r *http.Request)
		calls  int64
		wrong  string
	}{
		"taken":   {func(_ int64, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 1, ""},
		"refused": {func(_ int64, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, 1, "status 403"},
		"busy at once": {func(n int64, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(map[bool]int{true: 503, false: 200}[n == 1])
		}, 2, ""},
		"busy for long": {func(_ int64, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, 3, "status 429, 3 times"},
		"a redirect": {func(n int64, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, 1, "redirect (307), which is not followed"},
		"endless": {func(_ int64, w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || string(body) != `{"a":1}` || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.URL.Path != "/hook" {
					t.Errorf("%s %s %q %v", r.Method, r.URL.Path, body, err)
				}
				c.answer(calls.Add(1), w, r)
			}))
			defer s.Close()
			w := newWeb("v1")
			defer w.close()
			err := w.post(t.Context(), s.URL+"/hook?token=hush-hush", []byte(`{"a":1}`))
			if (err == nil) != (c.wrong == "") || err != nil && (!strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "hush")) {
				t.Errorf("%v, want %q", err, c.wrong)
			}
			if got := calls.Load(); got != c.calls {
				t.Errorf("%d calls, want %d", got, c.calls)
			}
		})
	}
}

// TestNobodyListens tries again, and names no secret of the URL.
func TestNobodyListens(t *testing.T) {
	quick(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	w := newWeb("v1")
	defer w.close()
	err = w.post(t.Context(), "http://"+at+"/hush-hush", nil)
	if err == nil || !strings.Contains(err.Error(), "3 times") || strings.Contains(err.Error(), "hush") {
		t.Error(err)
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

func TestLines(t *testing.T) {
	p := &Poster{o: Options{SSH: "ssh -p 2222 agents@host"}}
	r := &agent.Request{ID: "01J-7", Type: agent.PromptPermission}
	if got := p.lines("alpha", r); got[0] != "ssh -p 2222 agents@host respond alpha --prompt 01J-7 accept" {
		t.Error(got)
	}
	r.Type, r.Questions = agent.PromptQuestion, make([]agent.Question, 2)
	if got := p.lines("alpha", r); got[0] != "ssh -p 2222 agents@host respond alpha --prompt 01J-7 answer 1=1 2=1" {
		t.Error(got)
	}
	if s := short(strings.Repeat("é\n", 400)); len([]rune(s)) != mostText || strings.Contains(s, "\n") {
		t.Error(s)
	}
}

// plain runs a command as the server itself.
type plain struct{}

func (plain) Run(ctx context.Context, c command.Command) (command.Result, error) {
	return command.Run(ctx, c)
}
