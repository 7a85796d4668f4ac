package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// diary is an agent with a live state file and a session log: the one
// says where the other is, and nothing of the state.
type diary struct {
	dir    string
	prints bool // what it prints reports it, in place of the log
}

type diaryEntry struct {
	Kind agent.Kind
	How  agent.How
	Turn string
	Time time.Time
	Log  string
	Fill string

	Level agent.Level
}

func (diary) Name() string                                    { return "diary" }
func (diary) Hook([]byte) ([]agent.Fact, error)               { return nil, nil }
func (diary) Title(string) []agent.Fact                       { return nil }
func (diary) OSC(int, string) []agent.Fact                    { return nil }
func (diary) Screen(*agent.View) *agent.Reading               { return &agent.Reading{} }
func (diary) FromDialog(*agent.Dialog) *agent.Request         { return &agent.Request{} }
func (diary) Match(*agent.Dialog, *agent.Request) agent.Match { return agent.NoMatch }
func (diary) Fill(*agent.Request, *agent.Dialog)              {}
func (diary) Waiting(*agent.Fact) *agent.Request              { return &agent.Request{} }
func (diary) Command() []string                               { return []string{"sleep", "600"} }
func (d diary) Launch(s agent.Start) (agent.Launch, error) {
	return agent.Launch{Argv: s.Argv, StateFile: filepath.Join(d.dir, "%d.json"), LogFiles: filepath.Join(d.dir, "*", "%s"), Stream: d.prints}, nil
}

func (diary) Table() agent.Table {
	log := []agent.Witness{{Source: agent.SourceLog}}
	told := append(log, agent.Witness{Source: agent.SourceStream})
	all := append(told, agent.Witness{Source: agent.SourceRegistry})
	return agent.Table{agent.MoveReady: all, agent.MoveWork: all, agent.MoveDone: told, agent.MoveRest: all}
}

func (diary) Registry(_ string, data []byte) ([]agent.Fact, error) {
	var e diaryEntry
	err := json.NewDecoder(bytes.NewReader(data)).Decode(&e)
	f := agent.Fact{Kind: agent.Noted, Source: agent.SourceRegistry, Cause: "registry:here", Log: e.Log}
	if e.Level != "" {
		f.Kind, f.Level = agent.LevelIs, e.Level
	}
	return []agent.Fact{f}, err
}

func (diary) Log(line []byte) ([]agent.Fact, error) {
	var e diaryEntry
	err := json.Unmarshal(line, &e)
	return []agent.Fact{{Kind: e.Kind, How: e.How, Turn: e.Turn, Source: agent.SourceLog, Cause: "log:" + string(e.Kind), At: e.Time}}, err
}

func (diary) Stream(line []byte) ([]agent.Fact, error) {
	var e diaryEntry
	err := json.Unmarshal(line, &e)
	return []agent.Fact{{Kind: e.Kind, How: e.How, Turn: e.Turn, Source: agent.SourceStream, Cause: "stream:" + string(e.Kind)}}, err
}

// keeper is a session of that agent with its log.
type keeper struct {
	*place
	s    *Session
	path string
}

func newKeeper(t testing.TB, before string) *keeper {
	t.Helper()
	dir := t.TempDir()
	p := open(t)
	p.close()
	p.options.Drivers = map[string]agent.Driver{"diary": diary{dir: dir}}
	p.open()
	k := &keeper{place: p, path: filepath.Join(dir, "log")}
	if before != "" {
		k.write(before)
	}
	k.s = p.sh("one", "sleep 600", func(s *Spec) { s.Agent = "diary" })
	k.names(k.path)
	return k
}

// names has the agent's live state file say where its log is.
func (k *keeper) names(log string) {
	k.t.Helper()
	data, err := json.Marshal(diaryEntry{Log: log})
	if err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(k.path), fmt.Sprint(k.s.Status().PID)+".json"), data, 0o600); err != nil {
		k.t.Fatal(err)
	}
}

func (k *keeper) write(text string) {
	k.t.Helper()
	f, err := os.OpenFile(k.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		k.t.Fatal(err)
	}
	if _, err = f.WriteString(text); err != nil {
		k.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		k.t.Fatal(err)
	}
}

func entry(kind agent.Kind, turn string, at time.Time) string {
	data, _ := json.Marshal(diaryEntry{Kind: kind, Turn: turn, Time: at, How: agent.Completed})
	return string(data) + "\n"
}

func (k *keeper) turn(id string) string {
	return entry(agent.TurnStarted, id, time.Now()) + entry(agent.TurnEnded, id, time.Now())
}

func (k *keeper) is(state agent.State) *Status {
	k.t.Helper()
	return within(k.t, k.s, string(state), func(st *Status) bool { return st.Now == state })
}

// states are the session's states as events reported them, with where in the log.
func (k *keeper) states() string {
	var all []string
	last := int64(0)
	for _, l := range k.log(k.s.ID())["state_change"] {
		var e struct {
			Next string
			At   *struct{ Offset int64 }
		}
		if err := json.Unmarshal(l.Raw, &e); err != nil {
			k.t.Fatal(err)
		}
		all = append(all, e.Next)
		if e.At == nil {
			k.t.Errorf("no place in %s", l.Raw)
		} else if e.At.Offset <= last {
			k.t.Errorf("the place is not after %d in %s", last, l.Raw)
		} else {
			last = e.At.Offset
		}
	}
	return strings.Join(all, " ")
}

// TestLogIsFollowed: a log that is made late is followed, line by line, through
// replacement, and what was there before the program isn't reported.
func TestLogIsFollowed(t *testing.T) {
	k := newKeeper(t, "")
	k.write(entry(agent.TurnStarted, "1", time.Now()))
	if st := k.is(agent.Working); st.Tier != agent.TierLog || st.Cause != "log:turn_started" {
		t.Errorf("tier %d, cause %s", st.Tier, st.Cause)
	}
	end := entry(agent.TurnEnded, "1", time.Now())
	k.write(end[:20])
	k.write(end[20:])
	k.is(agent.Idle)
	for i := range 20 {
		k.write(entry(agent.TurnStarted, fmt.Sprint("a", i), time.Now()))
		k.is(agent.Working)
		k.write(entry(agent.TurnEnded, fmt.Sprint("a", i), time.Now()))
		k.is(agent.Idle)
	}
	if got, want := k.states(), strings.TrimSpace(strings.Repeat("working idle ", 21)); got != want {
		t.Errorf("reported %s", got)
	}
}

// TestLogElsewhere: an agent names as its log what is none of its own, by a path
// elsewhere, by a way out, and by links, also one that takes the place of a log that
// is followed. Nothing of it is read.
func TestLogElsewhere(t *testing.T) {
	k := newKeeper(t, "")
	k.write(k.turn("1"))
	k.is(agent.Idle)
	secret := filepath.Join(t.TempDir(), "secret")
	inside := filepath.Dir(k.path)
	link := filepath.Join(inside, "link")
	folder := filepath.Join(inside, "folder")
	if err := errors.Join(os.WriteFile(secret, []byte(entry(agent.TurnStarted, "stolen", time.Now().Add(time.Hour))), 0o600),
		os.Symlink(secret, link), os.Symlink(filepath.Dir(secret), folder)); err != nil {
		t.Fatal(err)
	}
	name := func(path string) {
		k.names(path)
		if err := k.s.do(t.Context(), func(c *core) {
			c.track.Freshen()
			c.track.Freshen()
		}); err != nil {
			t.Fatal(err)
		}
		if st := k.s.Status(); st.Now != agent.Idle {
			t.Errorf("with %s it is %s by %s", path, st.Now, st.Cause)
		}
	}
	for _, path := range []string{secret, inside + "/../" + filepath.Base(filepath.Dir(secret)) + "/secret", "secret", "/", inside, link, filepath.Join(folder, "secret")} {
		name(path)
	}
	name(k.path)
	if err := errors.Join(os.Remove(k.path), os.Symlink(secret, k.path)); err != nil {
		t.Fatal(err)
	}
	name(k.path)
	// Its own log is followed again when it is one.
	if err := os.Remove(k.path); err != nil {
		t.Fatal(err)
	}
	k.write(entry(agent.TurnStarted, "2", time.Now().Add(time.Minute)))
	k.is(agent.Working)
}

func TestLogOfAnOldConversation(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	k := newKeeper(t, strings.Repeat(entry(agent.TurnStarted, "old", old)+entry(agent.TurnEnded, "old", old), 5000)+entry(agent.TurnStarted, "left", old))
	k.write(k.turn("1") + entry(agent.TurnStarted, "2", time.Now()))
	within(t, k.s, "the second turn", func(st *Status) bool { return st.Now == agent.Working && st.Seq > 3 })
	if got := k.states(); got != "working idle working" {
		t.Errorf("reported %s", got)
	}
}

// TestLogReplaced: what a replaced log says again is not emitted again.
func TestLogReplaced(t *testing.T) {
	k := newKeeper(t, "")
	first := k.turn("1")
	k.write(first)
	k.is(agent.Idle)
	if err := os.WriteFile(k.path+".new", []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(k.path+".new", k.path); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond) // entries are known by their milliseconds
	k.write(entry(agent.TurnStarted, "2", time.Now()))
	k.is(agent.Working)
	var all []string
	for _, l := range k.log(k.s.ID())["state_change"] {
		next, _ := NextState(l.Raw)
		all = append(all, string(next))
	}
	if got := strings.Join(all, " "); got != "working idle working" {
		t.Errorf("reported %s", got)
	}
}

// TestLogAfterACrash: of each entry there has been one event, however old the
// checkpoint is that the next server goes on from.
func TestLogAfterACrash(t *testing.T) {
	k := newKeeper(t, "")
	k.write(k.turn("1") + entry(agent.TurnStarted, "2", time.Now()))
	within(t, k.s, "the second turn", func(st *Status) bool { return st.Now == agent.Working && st.Seq > 3 })
	kept := checkpointOf(t, k.s)
	k.write(entry(agent.TurnEnded, "2", time.Now()) + k.turn("3") + entry(agent.TurnStarted, "4", time.Now()))
	want := "working idle working idle working idle working"
	within(t, k.s, "the fourth turn", func(st *Status) bool { return k.states() == want })
	for range 3 {
		k.crash(k.s, kept)
		k.s = k.find("one")
		k.is(agent.Working)
	}
	if got := k.states(); got != want {
		t.Errorf("reported %s", got)
	}
	k.crash(k.s, kept) // and the next one in the midst of reading again, with a checkpoint of its own
	k.s = k.find("one")
	k.crash(k.s, checkpointOf(t, k.s))
	k.s = k.find("one")
	k.is(agent.Working)
	if got := k.states(); got != want {
		t.Errorf("reported %s", got)
	}
	k.place.close() // and what is written while no server is there
	k.write(entry(agent.TurnEnded, "4", time.Now()) + k.turn("5") + entry(agent.TurnStarted, "6", time.Now()) + `{"kind":"turn_`)
	k.place.open()
	k.s = k.find("one")
	want += " idle working idle working"
	within(t, k.s, "the sixth turn", func(st *Status) bool { return k.states() == want })
	k.write("ended\",\"how\":\"completed\",\"turn\":\"6\",\"time\":\"" + time.Now().UTC().Format(time.RFC3339Nano) + "\"}\n")
	k.is(agent.Idle)
	if got := k.states(); got != want+" idle" {
		t.Errorf("reported %s", got)
	}
}

// TestLogFlood: a log that grows by megabytes at once holds up no caller.
func TestLogFlood(t *testing.T) {
	k := newKeeper(t, "")
	k.write(entry(agent.TurnStarted, "1", time.Now()))
	k.is(agent.Working)
	var flood strings.Builder
	for range 2000 {
		data, _ := json.Marshal(diaryEntry{Kind: agent.Noted, Time: time.Now(), Fill: strings.Repeat("x", 10_000)})
		flood.Write(append(data, '\n'))
	}
	k.write(flood.String() + entry(agent.TurnEnded, "1", time.Now()))
	worst, begun := time.Duration(0), time.Now()
	for k.s.Status().Now != agent.Idle {
		began := time.Now()
		if err := k.s.do(t.Context(), func(*core) {}); err != nil {
			t.Fatal(err)
		}
		worst = max(worst, time.Since(began))
	}
	whole := time.Since(begun)
	t.Logf("20 MB in %v; a call waited %v at most", whole, worst)
	if worst > max(time.Second, whole/4) { // 64 KiB take some ms, and all takes as much longer as the machine is busy
		t.Errorf("a call waited %v, of %v that it all took", worst, whole)
	}
}

// BenchmarkLogToState is from an entry's last byte to the state that all can
// read.
func BenchmarkLogToState(b *testing.B) {
	k := newKeeper(b, "")
	k.write(k.turn("0"))
	k.is(agent.Idle)
	var all []time.Duration
	for i := range b.N {
		k.write(entry(agent.TurnStarted, fmt.Sprint("t", i), time.Now()))
		began := time.Now()
		k.is(agent.Working)
		all = append(all, time.Since(began))
		k.write(entry(agent.TurnEnded, fmt.Sprint("t", i), time.Now()))
		k.is(agent.Idle)
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkStateFileToState is from a live state file's last byte, written as
// Claude Code does, to the state that all can read.
func BenchmarkStateFileToState(b *testing.B) {
	k := newKeeper(b, "")
	name := filepath.Join(filepath.Dir(k.path), fmt.Sprint(k.s.Status().PID)+".json")
	var all []time.Duration
	for range b.N {
		for _, change := range []struct {
			level agent.Level
			state agent.State
		}{{agent.LevelBusy, agent.Working}, {agent.LevelIdle, agent.Idle}} {
			data, err := json.Marshal(diaryEntry{Level: change.level})
			if err != nil {
				b.Fatal(err)
			}
			f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			_, err = f.Write(data)
			if err := errors.Join(err, f.Truncate(int64(len(data))), f.Close()); err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			k.is(change.state)
			all = append(all, time.Since(began))
		}
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(all[len(all)-1].Microseconds()), "most-µs")
}
