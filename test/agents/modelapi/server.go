// Package modelapi serves a model's API on loopback, with a script in the
// model's place, so that a real agent can be tested without a network, an
// account or a model. It speaks Anthropic's Messages API itself; other vendors'
// are an [API] each, in packages below.
//
// What the model does in a turn is a [Scenario]. The user's message chooses it
// by a line
//
//	MOCK: name args
//
// or the test by [Server.Queue]; a message that chooses nothing gets a short
// text. [Scenarios] has the names. The server keeps every request, so that a
// test can check that a message arrived once and as it was sent.
package modelapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of what the server keeps and takes.
const (
	// keepBodies is how much of request bodies is kept: the newest. A turn of
	// Claude Code is about 150 KB, most of it tools.
	keepBodies = 64 << 20
	maxBody    = 64 << 20
)

// API is how a vendor's requests are read and answered.
type API interface {
	// Read fills in what the request says: its kind, and of a turn the prompt, how
	// many answers it has had, and the messages so far.
	Read(r *Request)
	// Named makes the scenario that a prompt chooses.
	Named(name, args string, scene Scene) (Scenario, error)
	// Answer gives a step of a turn, Beside the answer to any other request.
	Answer(ctx context.Context, w http.ResponseWriter, r Request, step Step)
	Beside(ctx context.Context, w http.ResponseWriter, r Request)
	// Usage is what the step is said to have taken, in tokens.
	Usage(step Step) map[string]int
}

// Server is the API. Its methods may be called from any goroutine.
type Server struct {
	api  API
	url  string
	stop context.CancelFunc
	done chan struct{} // closed when nothing of the server runs any more

	mu       sync.Mutex
	requests []Request
	kept     int // bytes of bodies in requests
	bare     int // requests[:bare] have lost their bodies
	changed  chan struct{}
	queue    []func(*Request) Scenario
	turns    map[turnKey]*turn
	arrivals map[string]int
}

// turnKey tells turns apart that may be asked for more than once: Claude
// repeats a request that failed.
type turnKey struct {
	session string
	index   int // of the prompt among the messages
	prompt  string
}

type turn struct {
	// script is called at each request: a scenario may need what the client sends only during the turn, such as the
	// plan's file.
	script   func(*Request) Scenario
	failures map[int]int // failed answers given, by step
}

// Start serves Anthropic's API on a free port of 127.0.0.1 until the context
// ends or Close.
func Start(ctx context.Context) (*Server, error) { return StartAs(ctx, messages{}) }

// StartChecked is Start with the safety check that Claude Code's auto mode asks for.
func StartChecked(ctx context.Context) (*Server, error) {
	return StartAs(ctx, messages{checks: true})
}

// StartAs serves another one.
func StartAs(ctx context.Context, api API) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the model API: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	s := &Server{
		api: api, url: "http://" + listener.Addr().String(), stop: stop, done: make(chan struct{}),
		changed: make(chan struct{}), turns: map[turnKey]*turn{}, arrivals: map[string]int{},
	}
	web := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	served := make(chan struct{})
	go func() {
		_ = web.Serve(listener) // ends with ErrServerClosed
		close(served)
	}()
	go func() {
		<-ctx.Done()
		_ = web.Close() // a connection that does not close is closed by its peer
		<-served
		close(s.done)
	}()
	return s, nil
}

// URL is the URL for the client.
func (s *Server) URL() string { return s.url }

// Close stops the server and waits for it.
func (s *Server) Close() {
	s.stop()
	<-s.done
}

// Queue adds scenarios for the next prompts that choose none themselves.
func (s *Server) Queue(list ...Scenario) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, scenario := range list {
		s.queue = append(s.queue, func(*Request) Scenario { return scenario })
	}
}

// QueueWork adds a turn that goes on with the same step until enough is called,
// for the next prompt that chooses none itself.
func (s *Server) QueueWork(name string, step Step) (enough func()) {
	var over atomic.Bool
	const most = 10_000 // steps: more than any test waits for
	all := Scenario{Name: name, Steps: slices.Repeat([]Step{step}, most)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, func(*Request) Scenario {
		if over.Load() {
			return Scenario{Name: name}
		}
		return all
	})
	return func() { over.Store(true) }
}

// QueueDriven adds a turn whose every step depends on the conversation up to there, for the next prompt that chooses
// none itself. next may be called more than once for the same request.
func (s *Server) QueueDriven(name string, next func(Request) Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, func(r *Request) Scenario {
		return Scenario{Name: name, Steps: append(make([]Step, r.Step), next(*r))}
	})
}

// ServeHTTP answers one request of the client's.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	record := Request{Time: time.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body}
	s.api.Read(&record)
	if r.Method == http.MethodConnect || r.URL.Host != "" {
		record.Kind, record.Path = KindOutside, r.Host
	}
	var step Step
	if record.Kind == KindTurn {
		if step = s.step(&record); !step.Fails() {
			record.Usage = s.api.Usage(step)
		}
	}
	defer s.answered(s.keep(record), r)
	switch record.Kind {
	case KindTurn:
		s.api.Answer(r.Context(), w, record, step)
	case KindOutside:
		http.Error(w, "the lab has no way outside", http.StatusForbidden)
	default:
		s.api.Beside(r.Context(), w, record)
	}
}

// step finds what the model does next, and notes it in the record.
func (s *Server) step(r *Request) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := turnKey{r.Session, r.Index, r.Prompt}
	t := s.turns[key]
	if t == nil {
		t = &turn{script: s.choose(r), failures: map[int]int{}}
		s.turns[key] = t
	}
	scenario := t.script(r)
	r.Scenario = scenario.Name
	before := r.Step // good answers that the conversation holds; failed ones leave nothing there
	for i, step := range scenario.Steps {
		switch {
		case !step.Fails() && before == 0:
			return step
		case !step.Fails():
			before--
		case before == 0 && (step.Times == 0 || t.failures[i] < step.Times):
			t.failures[i]++
			return step
		}
	}
	return Say(Text("Done."))
}

// choose finds the script of a turn that begins.
func (s *Server) choose(r *Request) func(*Request) Scenario {
	if name, args, ok := Chosen(r.Prompt); ok {
		return func(r *Request) Scenario {
			scenario, err := s.api.Named(name, args, r.Scene)
			if err != nil {
				return Scenario{Name: name, Steps: []Step{Say(Text(err.Error()))}}
			}
			return scenario
		}
	}
	next := func(*Request) Scenario { return Scenario{Name: "plain", Steps: []Step{Say(Text("Understood."))}} }
	if len(s.queue) > 0 && !r.Subagent {
		next, s.queue = s.queue[0], s.queue[1:]
	}
	return next
}

// answered notes the end of an answer.
func (s *Server) answered(n int, r *http.Request) {
	now, left := time.Now(), r.Context().Err() != nil
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[n-1].Ended, s.requests[n-1].Left = now, left
}

// keep puts a request on the list and gives its number.
func (s *Server) keep(r Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.requests) + 1
	s.requests = append(s.requests, r)
	s.kept += len(r.Body)
	for ; s.kept > keepBodies && s.bare < len(s.requests)-1; s.bare++ {
		s.kept -= len(s.requests[s.bare].Body)
		s.requests[s.bare].Body = nil
	}
	if r.Kind == KindTurn && !r.Subagent {
		counts := map[string]int{}
		for _, text := range r.Texts {
			counts[text]++
		}
		for text, n := range counts {
			s.arrivals[text] = max(s.arrivals[text], n)
		}
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return r.N
}

// Requests are all requests so far, oldest first. Of very many only the newest
// still have their bodies.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Keep writes the requests into a folder, under the name of a test, so that a person can examine them.
func (s *Server) Keep(dir, test string) error {
	for _, r := range s.Requests() {
		name := filepath.Join(dir, fmt.Sprintf("%s-%03d-%s.json", strings.ReplaceAll(test, "/", "_"), r.N, r.Kind))
		if err := os.WriteFile(name, r.Body, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Outside are the hosts that the client tried to reach beside the API.
func (s *Server) Outside() []string {
	var hosts []string
	for _, r := range s.Requests() {
		if r.Kind == KindOutside {
			hosts = append(hosts, r.Path)
		}
	}
	return hosts
}

// Arrivals is how often a text is a message of the user in the model's conversation: 1 if it arrived once, byte for
// byte.
// A conversation that was cleared since counts with the most it ever held.
func (s *Server) Arrivals(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrivals[text]
}

// Wait returns the first request that match accepts. It checks earlier requests too.
func (s *Server) Wait(ctx context.Context, match func(Request) bool) (Request, error) {
	for seen := 0; ; {
		s.mu.Lock()
		list, changed := s.requests[seen:], s.changed
		seen = len(s.requests)
		s.mu.Unlock()
		for _, r := range list {
			if match(r) {
				return r, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Request{}, errors.Join(fmt.Errorf("none of %d requests is the one waited for", seen), ctx.Err())
		case <-s.done:
			return Request{}, errors.New("the model API was closed")
		}
	}
}

// WriteJSON answers with a JSON value.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have left
}
