package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// startWeb starts an HTTP server on loopback for the rest of the script: web VAR FILE [ANSWER]... Its URL
// is in VAR. It appends each request to FILE, as a line of JSON. The first requests get the ANSWERs in
// turn, and later ones 200: STATUS, STATUS:SECONDS of Retry-After, or hang for no answer.
func startWeb(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: web VAR FILE [ANSWER]...")
	}
	file, answers := ts.MkAbs(args[1]), args[2:]
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(map[string]any{"path": r.URL.RequestURI(), "header": r.Header, "body": string(body)}) // strings always encode
		mu.Lock()
		answer := "200"
		if len(answers) > 0 {
			answer, answers = answers[0], answers[1:]
		}
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.Write(line.Bytes())
			_ = f.Close()
		}
		mu.Unlock()
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		status, wait, _ := strings.Cut(answer, ":")
		if status == "hang" {
			<-r.Context().Done()
			return
		}
		if wait != "" {
			w.Header().Set("Retry-After", wait)
		}
		code, _ := strconv.Atoi(status)
		w.WriteHeader(max(code, 200))
	}))
	ts.Defer(func() { s.CloseClientConnections(); s.Close() })
	ts.Setenv(args[0], s.URL)
}
