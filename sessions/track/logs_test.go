package track

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/codex"
	"berth/api"
	"berth/detect"
	"berth/detect/tail"
	"berth/sessions/hold"
)

// scribe is a bench of Codex with its logs.
type scribe struct {
	*bench
	t       *testing.T
	dir     string
	now     time.Time
	hooks   uint64
	seen    []string // the calls that were applied from logs
	trouble error
}

func newScribe(t *testing.T) *scribe {
	s := &scribe{bench: newBench(), t: t, dir: t.TempDir(), now: time.Now()}
	s.End()
	s.equip(s.now)
	s.Begin(s.now)
	return s
}

func (s *scribe) equip(started time.Time) {
	s.env.Now = func() time.Time { return s.now }
	s.env.Trouble, s.env.Cured = func(_ string, err error) { s.trouble = err }, func(string) {}
	s.env.Logs = func() tail.Below { return tail.Below{Folder: s.dir, UID: os.Getuid()} }
	s.env.Spec = func() Spec { return Spec{Hooks: true, LogFiles: s.dir + "/*/rollout-*-%s.jsonl"} }
	s.env.Child = func() Child { return Child{PID: 1, Started: started} }
	s.env.Fresh = func() agent.Driver { return codex.Driver{} }
	s.env.Observe = func(f agent.Fact) {
		if f.Source == agent.SourceLog && f.Call != "" {
			s.seen = append(s.seen, f.Call)
		}
	}
}

// restart has the next server continue.
func (s *scribe) restart() {
	s.t.Helper()
	data, err := s.Save()
	if err != nil {
		s.t.Fatal(err)
	}
	started := s.env.Child().Started
	s.bench = newBench()
	s.End()
	s.equip(started)
	if err := errors.Join(s.Restore(data, true), s.Resume(started, s.now)); err != nil {
		s.t.Fatal(err)
	}
	s.d.waking.live, s.seen = true, nil
}

// log is the path of a log, which exists.
func (s *scribe) log(folder, conversation string) string {
	path := filepath.Join(s.dir, folder, "rollout-1-"+conversation+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	s.write(path, "")
	return path
}

func (s *scribe) write(path, text string) {
	s.t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		s.t.Fatal(err)
	}
}

// entry writes an entry of the present, 2 s after what was before.
func (s *scribe) entry(path, kind, payload string) {
	s.now = s.now.Add(2 * time.Second)
	s.write(path, fmt.Sprintf(`{"timestamp":"%s","type":"%s","payload":%s}`+"\n", s.now.UTC().Format(time.RFC3339Nano), kind, payload))
}

func (s *scribe) call(path, id string) {
	s.entry(path, "response_item", `{"type":"function_call","name":"exec_command","call_id":"`+id+`","arguments":"{\"cmd\":\"run `+id+`\"}"}`)
}

func (s *scribe) ends(path, turn string) {
	s.entry(path, "event_msg", `{"type":"task_complete","turn_id":"`+turn+`","last_agent_message":"done"}`)
}

// hook is an event of the conversation that names a log, 2 s later.
func (s *scribe) hook(event, conversation, path, more string) {
	s.t.Helper()
	s.now = s.now.Add(2 * time.Second)
	s.hooks++
	payload := fmt.Sprintf(`{"hook_event_name":"%s","session_id":"%s","transcript_path":"%s"%s}`, event, conversation, path, more)
	data, err := json.Marshal(hold.HookData{Event: event, Payload: json.RawMessage(payload)})
	if err != nil {
		s.t.Fatal(err)
	}
	news, err := s.Record(hold.Record{N: s.hooks, Kind: hold.KindHook, Time: api.At(s.now), Data: data})
	if err != nil {
		s.t.Fatal(err)
	}
	s.Emit(news.Results, news.Events...)
	s.read()
}

func (s *scribe) starts(conversation, path, how string) {
	s.t.Helper()
	s.hook("SessionStart", conversation, path, `,"source":"`+how+`"`)
}

func (s *scribe) prompts(conversation, path string) {
	s.t.Helper()
	s.hook("UserPromptSubmit", conversation, path, `,"turn_id":"t","prompt":"go"`)
}

func (s *scribe) read() {
	s.t.Helper()
	for s.readLog(); s.d.files.log.more; s.readLog() {
	}
	if s.trouble != nil {
		s.t.Fatal(s.trouble)
	}
}

// open are the calls that the fold has without a result.
func (s *scribe) open() (ids []string) {
	s.t.Helper()
	data, err := s.d.fold.Checkpoint()
	if err != nil {
		s.t.Fatal(err)
	}
	var m struct {
		Open []struct{ ID string }
	}
	if err := json.Unmarshal(data, &m); err != nil {
		s.t.Fatal(err)
	}
	for _, c := range m.Open {
		ids = append(ids, c.ID)
	}
	return ids
}

func (s *scribe) want(what string, open ...string) {
	s.t.Helper()
	s.read()
	if got := s.open(); !slices.Equal(got, open) {
		s.t.Errorf("%s: the fold has the calls %q, want %q", what, got, open)
	}
}

// TestLogNamedByAnother: any process of the session can send a hook of the agent's conversation that names another log, before the agent's own
// hooks and after them. Each call of the agent's log is applied once, and also while that other log is the last one.
func TestLogNamedByAnother(t *testing.T) {
	for _, first := range []bool{false, true} {
		s := newScribe(t)
		own, other := s.log("own", "s"), s.log("other", "s")
		if first {
			s.prompts("s", other)
			s.call(own, "a")
		}
		s.prompts("s", own)
		if !first {
			s.call(own, "a")
		}
		s.want("the own log", "a")
		s.prompts("s", other)
		s.call(own, "b")
		s.want("another log", "a", "b")
		s.restart()
		s.call(own, "c")
		s.call(own, "d")
		s.want("after a restart", "a", "b", "c", "d")
		s.prompts("s", own)
		s.call(own, "e")
		s.want("the own log again", "a", "b", "c", "d", "e")
		if want := []string{"c", "d", "e"}; !slices.Equal(s.seen, want) {
			t.Errorf("the entries of the next server are %q, want %q", s.seen, want)
		}
	}
}

// TestLogOfAnotherName: a file whose name hasn't the conversation's id is none of its logs, and neither is one in another place.
func TestLogOfAnotherName(t *testing.T) {
	s := newScribe(t)
	own, other := s.log("own", "s1"), s.log("own", "s2")
	s.prompts("s1", own)
	s.prompts("s1", other)
	s.call(other, "foreign")
	s.call(own, "a")
	s.want("another conversation's log", "a")
	if got := s.d.files.log.tail.Mark().Path; got != own || len(s.d.files.left) != 0 {
		t.Errorf("%s is read, and %d more", got, len(s.d.files.left))
	}
	for _, c := range []struct {
		pattern, id, path string
		want              bool
	}{
		{"/c/projects/*/%s.jsonl", "s", "/c/projects/-w/s.jsonl", true},
		{"/c/projects/*/%s.jsonl", "s", "/c/projects/-w/ss.jsonl", false},
		{"/c/sessions/*/*/*/rollout-*-%s.jsonl", "s", "/real/sessions/2026/11/29/rollout-2026-s.jsonl", true},
		{"/c/sessions/*/*/*/rollout-*-%s.jsonl", "s", "/c/sessions/2026/11/29/rollout-2026-s.jsonl.bak", false},
		{"/c/tmp/*/chats/session-*-%.8s.jsonl", "0123456789", "/c/tmp/w/chats/session-1-01234567.jsonl", true},
		{"/c/*/%s/events.jsonl", "s", "/c/session-state/s/events.jsonl", true},
		{"/c/*/%s/events.jsonl", "s", "/c/session-state/o/events.jsonl", false},
		{"/c/*/%s/events.jsonl", "s", "events.jsonl", false},
		{"/c/projects/*/%s.jsonl", "*", "/c/projects/-w/s.jsonl", false},
		{"", "s", "/any", true},
	} {
		if got := isLogOf(c.pattern, c.id, c.path); got != c.want {
			t.Errorf("%s is a log of %s by %s: %v", c.path, c.id, c.pattern, got)
		}
	}
}

// TestLogOfALeftConversation: a conversation that the agent has left may go on in another process. So its log isn't read meanwhile, and what
// came meanwhile only says which calls are open. Another conversation's turns say nothing about its calls.
func TestLogOfALeftConversation(t *testing.T) {
	s := newScribe(t)
	one, more, two := s.log("own", "one"), s.log("more", "one"), s.log("own", "two")
	s.starts("one", one, "startup")
	s.starts("one", more, "startup")
	s.call(one, "a")
	s.want("before", "a")
	s.starts("two", two, "clear")
	s.ends(two, "t2")
	s.call(more, "e")
	s.call(one, "b")
	s.entry(one, "response_item", `{"type":"function_call","name":"exec_command","call_id":"over","arguments":"{\"cmd\":\"run over\"}"}`)
	s.entry(one, "response_item", `{"type":"function_call_output","call_id":"over","output":"ok"}`)
	if s.want("in the other conversation", "a"); !slices.Equal(s.seen, []string{"a"}) {
		t.Errorf("read in the other conversation: %q", s.seen)
	}
	s.restart()
	before := len(s.steps)
	s.starts("one", one, "clear")
	s.want("back", "a", "e", "b")
	if len(s.seen) > 0 || s.State() == agent.Working {
		t.Errorf("what was logged meanwhile made %q, it is %s: %q", s.seen, s.State(), s.steps[before:])
	}
	s.call(one, "c")
	s.want("after that", "a", "e", "b", "c")
	s.ends(one, "t")
	s.want("the turn's end")
}

// TestCallsOfALeftConversationEnd: after an hour a call of a conversation that was left doesn't count any more.
func TestCallsOfALeftConversationEnd(t *testing.T) {
	s := newScribe(t)
	one, two := s.log("own", "one"), s.log("own", "two")
	s.starts("one", one, "startup")
	s.call(one, "a")
	s.want("before", "a")
	s.starts("two", two, "clear")
	s.now = s.now.Add(time.Hour)
	s.ends(two, "t")
	s.want("an hour later")
}

// TestTooManyLogs: without room for a log of the conversation no key answers, and those before are read on. A log of another conversation
// gives way. When it is named again, its calls since the program's start are known all the same.
func TestTooManyLogs(t *testing.T) {
	s := newScribe(t)
	own := s.log("own", "s")
	s.prompts("s", own)
	for i := range logsKept {
		s.prompts("s", s.log(fmt.Sprint("other", i), "s"))
	}
	if s.d.files.noRoom || len(s.d.files.left) != logsKept-1 {
		t.Errorf("%d logs are left", len(s.d.files.left))
	}
	if data, err := s.d.fold.Checkpoint(); err != nil || !bytes.Contains(data, []byte(`"Unlogged":"s"`)) {
		t.Errorf("the fold doesn't know: %v", err)
	}
	s.call(own, "a")
	s.want("the first log", "a")

	s = newScribe(t)
	own = s.log("own", "s")
	s.starts("s", own, "startup")
	for i := range logsKept + 1 {
		id := fmt.Sprint("z", i)
		s.starts(id, s.log("own", id), "clear")
	}
	s.call(own, "b")
	if slices.ContainsFunc(s.d.files.left, func(l sessionLog) bool { return l.tail.Mark().Path == own }) || len(s.d.files.left) != logsKept-1 {
		t.Errorf("%d logs are left", len(s.d.files.left))
	}
	s.restart()
	s.starts("s", s.log("bogus", "s"), "clear")
	s.read()
	if data, err := s.d.fold.Checkpoint(); err != nil || !bytes.Contains(data, []byte(`"Unlogged":"s"`)) {
		t.Errorf("the fold doesn't know that the own log isn't read: %v", err)
	}
	s.starts("s", own, "clear")
	s.want("named again", "b")
}

// TestSoughtLog: a log that no hook has named is found by the conversation's id. What was logged since the start of that search is news.
func TestSoughtLog(t *testing.T) {
	s := newScribe(t)
	own := s.log("own", "s")
	s.d.fold = detect.New(s.d.driver, detect.Options{Conversation: "s", Start: s.now})
	s.seekLog(s.now)
	s.call(own, "a")
	s.now = s.now.Add(4 * time.Second)
	s.seekLog(s.now)
	s.want("found", "a")
	if !slices.Equal(s.seen, []string{"a"}) {
		t.Errorf("it has reported %q", s.seen)
	}
}

// TestMoveWithoutALog: another process reports a move to a conversation, and names no log. What the agent logs meanwhile counts after the move back, and
// a result in another conversation's log ends no call.
func TestMoveWithoutALog(t *testing.T) {
	for _, named := range []bool{false, true} {
		s := newScribe(t)
		one, two := s.log("own", "one"), ""
		s.starts("one", one, "startup")
		s.call(one, "a")
		s.want("the first call", "a")
		if named {
			two = s.log("own", "two")
		}
		s.starts("two", two, "clear")
		s.call(one, "b")
		s.want("in the other conversation", "a")
		if named {
			s.write(two, fmt.Sprintf(`{"timestamp":"%s","type":"response_item","payload":{"type":"function_call_output","call_id":"a"}}`+"\n", s.now.UTC().Format(time.RFC3339Nano)))
		}
		s.want("after another log's result", "a")
		s.starts("one", one, "clear")
		s.call(one, "c")
		s.want("back", "a", "b", "c")
	}
}

// TestForkNamesTheOther: a fork's start names the log of the conversation that it was copied from. That may go on, so it isn't read.
func TestForkNamesTheOther(t *testing.T) {
	s := newScribe(t)
	from, own := s.log("own", "from"), s.log("own", "fork")
	s.d.fold = detect.New(s.d.driver, detect.Options{Conversation: "fork", Forked: "from", Start: s.now})
	s.starts("from", from, "resume")
	s.call(from, "foreign")
	s.want("the other's log")
	s.prompts("fork", own)
	s.call(own, "a")
	s.want("the own log", "a")
}
