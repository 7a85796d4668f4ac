package hold

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestTell(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	f := follow(l, 0)
	a.hook(`{"hook_event_name":"Stop", "text":"<b> & ü"}`+"\n", "--tell", "Stop").silent()
	var got []Record
	var after uint64
	f.until(t, "the record, by a wake", func() bool {
		l.ReadControl(after, func(r Record) error { after = r.N; got = append(got, r); return nil })
		return len(got) == 2
	})
	if !strings.Contains(string(got[1].Data), `<b> & ü`) {
		t.Errorf("record %s", got[1].Data)
	}
	_, hooks := hooksOf(t, a.spec.Dir)
	d := hooks[0]
	if d.Event != "Stop" || d.Ask || d.Malformed || d.Truncated || d.PID <= 0 || string(d.Payload) != `{"hook_event_name":"Stop","text":"<b> & ü"}` {
		t.Errorf("%+v", d)
	}
	if info, err := os.Stat(a.spec.HookSocket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("hook socket: %v, %v", info, err)
	}
}

// TestState reports a state: it reads no stdin, and its words are the event.
func TestState(t *testing.T) {
	a := newAgent(t)
	start(t, a.spec)
	a.hook(`not read`, "state", "prompt", "which", `"one"?`).silent()
	a.asked(1)
	_, hooks := hooksOf(t, a.spec.Dir)
	if d := hooks[0]; d.Event != "state" || d.Ask || d.Malformed || string(d.Payload) != `{"berth":"state","state":"prompt","message":"which \"one\"?"}` {
		t.Errorf("%+v", d)
	}
}

func TestAskGetsItsVerdictOnce(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	if !l.Welcome().TakesHooks {
		t.Fatal("the holder does not say that it takes hooks")
	}
	r := a.hook(`{"a":1}`, "--ask", "1h", "1h", "PermissionRequest")
	id := a.asked(1)
	if err := l.VerdictMarked(id, []byte("{\"decision\":\"block\"}\n"), 2, json.RawMessage(`{"by":"me"}`)); err != nil {
		t.Fatal(err)
	}
	if out := r.wait(); string(out.Stdout) != "{\"decision\":\"block\"}\n" || out.Status != 2 {
		t.Errorf("%+v", out)
	}
	for range 2 {
		if err := l.Verdict(id, []byte("again"), 0); !errors.Is(err, ErrNotWaiting) {
			t.Errorf("second verdict: %v", err)
		}
	}
	if err := l.Release(id); !errors.Is(err, ErrNotWaiting) {
		t.Errorf("release: %v", err)
	}
	waitKinds(t, a.spec.Dir, id, "hook verdict delivered")
	v := ofKind[VerdictData](t, a.spec.Dir, KindVerdict)[0]
	if v.Hook != id || v.Status != 2 || v.Stdout != "{\"decision\":\"block\"}\n" || string(v.Mark) != `{"by":"me"}` {
		t.Errorf("%+v", v)
	}
	if err := l.Verdict(id, nil, 256); !errors.Is(err, ErrBadRequest) {
		t.Errorf("status 256: %v", err)
	}
	if err := l.Verdict(id, make([]byte, MaxVerdict+1), 0); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a long verdict: %v", err)
	}
}

func TestLongVerdictArrivesWhole(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	r := a.hook(`{}`, "--ask", "1h", "1h")
	id := a.asked(1)
	text := strings.Repeat("0123456789abcdef", MaxVerdict/16)
	if err := l.Verdict(id, []byte(text), 0); err != nil {
		t.Fatal(err)
	}
	if out := r.wait(); string(out.Stdout) != text {
		t.Errorf("%d bytes of %d", len(out.Stdout), len(text))
	}
	waitKinds(t, a.spec.Dir, id, "hook verdict delivered")
	if v := ofKind[VerdictData](t, a.spec.Dir, KindVerdict)[0]; v.Bytes != len(text) || v.Stdout != "" {
		t.Errorf("record of %d bytes has %d", v.Bytes, len(v.Stdout))
	}
}

func TestRelease(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	r := a.hook(`{}`, "--ask", "1h", "1h")
	id := a.asked(1)
	if err := l.Release(id); err != nil {
		t.Fatal(err)
	}
	r.silent()
	if g := a.gone(id); g.Why != GoneReleased || g.Answered {
		t.Errorf("%+v", g)
	}
	if err := l.Verdict(id, []byte("late"), 0); !errors.Is(err, ErrNotWaiting) {
		t.Errorf("verdict: %v", err)
	}
}

func TestHoldEnds(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	began := time.Now()
	a.hook(`{}`, "--ask", "300ms", "1h").silent()
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("let go after %v", took)
	}
	if g := a.gone(a.asked(1)); g.Why != GoneHeld {
		t.Errorf("%+v", g)
	}
	if err := l.Err(); err != nil {
		t.Error(err)
	}
}

func TestGraceEndsWithoutAServer(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	r := a.hook(`{}`, "--ask", "1h", "300ms")
	id := a.asked(1)
	began := time.Now()
	l.Close()
	r.silent()
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("let go after %v", took)
	}
	if g := a.gone(id); g.Why != GoneNoServer {
		t.Errorf("%+v", g)
	}
	// One that begins while none is there gets the grace too.
	a.hook(`{}`, "--ask", "1h", "50ms").silent()
	if g := a.gone(a.asked(2)); g.Why != GoneNoServer {
		t.Errorf("%+v", g)
	}
}

func TestServerThatComesBackWithinGraceFindsTheHook(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	r := a.hook(`{}`, "--ask", "1h", "1m", "Stop")
	id := a.asked(1)
	l.Close()
	again := redial(t, a.spec.Dir)
	waiting := again.Welcome().Hooks
	if len(waiting) != 1 || waiting[0].ID != id || waiting[0].Event != "Stop" || waiting[0].PID != r.pid {
		t.Fatalf("waiting: %+v, want %d of %d", waiting, id, r.pid)
	}
	if err := again.Verdict(id, []byte("yes"), 0); err != nil {
		t.Fatal(err)
	}
	if out := r.wait(); string(out.Stdout) != "yes" {
		t.Errorf("%+v", out)
	}
}

func TestHookSurvivesKilledServer(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	r := a.hook(`{}`, "--ask", "1h", "1m")
	id := a.asked(1)
	l.Close()
	killServers(t, "serve", a.spec.Dir, 3)
	again := redial(t, a.spec.Dir)
	if waiting := again.Welcome().Hooks; len(waiting) != 1 || waiting[0].ID != id {
		t.Fatalf("waiting: %+v", waiting)
	}
	if err := again.Verdict(id, []byte("yes"), 0); err != nil {
		t.Fatal(err)
	}
	third := redial(t, a.spec.Dir)
	if err := third.Verdict(id, []byte("no"), 0); !errors.Is(err, ErrNotWaiting) {
		t.Errorf("the next server's verdict: %v", err)
	}
	if out := r.wait(); string(out.Stdout) != "yes" {
		t.Errorf("%+v", out)
	}
	waitKinds(t, a.spec.Dir, id, "hook verdict delivered")
	if waiting := third.Welcome().Hooks; len(waiting) != 0 {
		t.Errorf("still waiting: %+v", waiting)
	}
}

func TestKilledHookIsGone(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	r := a.hook(`{}`, "--ask", "1h", "1h")
	id := a.asked(1)
	r.kill()
	if g := a.gone(id); g.Why != GoneHungUp || g.Answered {
		t.Errorf("%+v", g)
	}
	if err := l.Verdict(id, nil, 0); !errors.Is(err, ErrNotWaiting) {
		t.Errorf("verdict: %v", err)
	}
}

// TestVerdictNobodyTakes answers a hook that is stopped and then killed.
func TestVerdictNobodyTakes(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	r := a.hook(`{}`, "--ask", "1h", "1h")
	id := a.asked(1)
	if err := syscall.Kill(r.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := l.Verdict(id, []byte("yes"), 0); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(r.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if g := a.gone(id); g.Why != GoneHungUp || !g.Answered {
		t.Errorf("%+v", g)
	}
	if got := kindsAbout(t, a.spec.Dir, id); got != "hook verdict gone" {
		t.Errorf("records: %s", got)
	}
}

// TestOrphanedHookEnds kills an agent inside the session, which leaves the
// shell and the hook that it ran.
func TestOrphanedHookEnds(t *testing.T) {
	for name, argv := range map[string][]string{
		"own child": {exe(t), "hook", "--ask", "1h", "1h"},
		"shell's":   {"sh", "-c", `"$0" hook --ask 1h 1h; :`, exe(t)},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t)
			start(t, a.spec)
			inner := a.run("", exe(t), "program", "agent", a.socket+"2")
			runAt(t, a.socket+"2", `{}`, argv...)
			id := a.asked(1)
			_, hooks := hooksOf(t, a.spec.Dir)
			inner.kill()
			if g := a.gone(id); g.Why != GoneHungUp {
				t.Errorf("%+v", g)
			}
			eventually(t, "the hook ends", func() bool {
				p, err := lookProcess(hooks[0].PID)
				return err != nil || p.dead
			})
		})
	}
}

// TestHookEndsWithItsReader closes what would be read of the answer.
func TestHookEndsWithItsReader(t *testing.T) {
	a := newAgent(t)
	start(t, a.spec)
	// The reader goes once the hook waits: one that is gone before leaves
	// nothing to ask.
	leave := filepath.Join(t.TempDir(), "leave")
	hook := a.run("", "sh", "-c", `echo {} | "$0" hook --ask 1h 1h | { until test -e "$1"; do sleep 0.01; done; }`, exe(t), leave)
	id := a.asked(1)
	if err := os.WriteFile(leave, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hook.silent()
	if g := a.gone(id); g.Why != GoneHungUp {
		t.Errorf("%+v", g)
	}
}

// TestStoppedHolderHoldsNoAgentUp asks and reports while the holder does nothing.
func TestStoppedHolderHoldsNoAgentUp(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	warm := a.hook(`{}`, "--tell")
	warm.silent()
	holder := l.Welcome().HolderPID
	if err := syscall.Kill(holder, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(holder, syscall.SIGCONT)
	tell, ask := a.hook(`{}`, "--tell"), a.hook(`{}`, "--ask", "1h", "1h")
	tell.silent()
	ask.silent()
}

// TestProgramsEndEndsWaits kills the program under waiting hooks, one of them
// deaf to all but SIGKILL.
func TestProgramsEndEndsWaits(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	a.hook(`{}`, "--ask", "1h", "1h")
	a.run("", "sh", "-c", `trap "" HUP TERM; echo {} | setsid "$0" hook --ask 1h 1h; sleep 1000`, exe(t))
	a.asked(2)
	if err := syscall.Kill(l.Welcome().ChildPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	exit := follow(l, 0).untilEnd(t)
	if exit.Signal != "SIGKILL" || exit.Left != 0 {
		t.Errorf("exit %+v", exit)
	}
	all := records(t, a.spec.Dir)
	if last := all[len(all)-1]; last.Kind != KindExit {
		t.Errorf("the last record is %s", last.Kind)
	}
	for _, n := range []int{1, 2} {
		waitKinds(t, a.spec.Dir, a.asked(n), "hook gone")
	}
	if !noFile(a.spec.HookSocket) {
		t.Error("the hook socket is left")
	}
}

// TestHolderKilledUnderAHook starts the next holder in the folder: it says
// that no process waits any more.
func TestHolderKilledUnderAHook(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	a.hook(`{}`, "--ask", "1h", "1h")
	id := a.asked(1)
	syscall.Kill(l.Welcome().HolderPID, syscall.SIGKILL)
	<-l.Done()
	w := l.Welcome()
	eventually(t, "holder and program are gone", func() bool {
		return !alive(w.HolderPID, w.HolderStart) && !alive(w.ChildPID, w.ChildStart)
	})
	os.Remove(a.socket)
	again := start(t, a.spec)
	if g := a.gone(id); g.Why != GoneLost || g.Answered {
		t.Errorf("%+v", g)
	}
	if err := again.Verdict(id, nil, 0); !errors.Is(err, ErrNotWaiting) {
		t.Errorf("verdict: %v", err)
	}
	a.hook(`{}`, "--tell").silent()
	if next := a.asked(2); next <= id {
		t.Errorf("hook %d after %d", next, id)
	}
}

func TestPeerOutsideTheSessionIsRefused(t *testing.T) {
	a := newAgent(t)
	start(t, a.spec)
	for _, args := range [][]string{{"--tell", "Stop"}, {"--ask", "1h", "1h"}} {
		cmd := exec.Command(exe(t), append([]string{"hook"}, args...)...)
		cmd.Env = append(os.Environ(), raceExit, HookSocketEnv+"="+a.spec.HookSocket)
		cmd.Stdin = strings.NewReader(`{"forged":true}`)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%q: %q, %v", args, out, err)
		}
	}
	a.hook(`{}`, "--tell", "Own").silent()
	// A process that has left the agent's group and parents is inside all the same.
	a.run("", "sh", "-c", `(setsid sh -c 'sleep 0.1; echo {} | "$0" hook --tell Daemon' "$0" &)`, exe(t)).silent()
	a.asked(2)
	if _, hooks := hooksOf(t, a.spec.Dir); hooks[0].Event != "Own" || hooks[1].Event != "Daemon" {
		t.Errorf("%+v", hooks)
	}
}

func TestHookFailsOpen(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	dead := filepath.Join(t.TempDir(), "dead")
	if err := os.WriteFile(dead, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, socket := range []string{"", none, dead, strings.Repeat("/long", 60)} {
		for _, args := range [][]string{{"--tell"}, {"--tell", "Stop"}, {"--ask", "1h", "1h"}, {"state", "idle"}} {
			cmd := exec.Command(exe(t), append([]string{"hook"}, args...)...)
			cmd.Env = append(os.Environ(), raceExit, HookSocketEnv+"="+socket)
			cmd.Stdin = strings.NewReader(strings.Repeat("x", 200<<10))
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%q %q: %q, %v", socket, args, out, err)
			}
		}
	}
	for _, args := range [][]string{nil, {"state"}, {"state", "asleep"}, {"state", "idle", "\xff"}, {"state", "idle", strings.Repeat("x", 5000)}, {"--ask", "x", "1h"}, {"--ask", "1h"}, {"--tell", "a", "b"}} {
		cmd := exec.Command(exe(t), append([]string{"hook"}, args...)...)
		cmd.Env = append(os.Environ(), raceExit)
		err := cmd.Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestAskIf asks while the file is there and reports while it doesn't exist.
func TestAskIf(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	file := filepath.Join(t.TempDir(), "asks")
	a.hook(`{}`, "--ask", "1h", "1h", "--if", file, "Stop").silent()
	a.asked(1)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := a.hook(`{}`, "--ask", "1h", "1h", "--if", file, "Stop")
	if err := l.Verdict(a.asked(2), []byte("go on"), 0); err != nil {
		t.Fatal(err)
	}
	if out := r.wait(); string(out.Stdout) != "go on" {
		t.Errorf("%+v", out)
	}
	_, hooks := hooksOf(t, a.spec.Dir)
	if hooks[0].Ask || !hooks[1].Ask || hooks[0].Event != "Stop" || hooks[1].Event != "Stop" {
		t.Errorf("%+v", hooks)
	}
}

func TestPayloads(t *testing.T) {
	a := newAgent(t)
	start(t, a.spec)
	long := func(n int) string { return `{"text":"` + strings.Repeat("é", (n-11)/2) + `"}` }
	for i, c := range []struct {
		name, payload              string
		inline, malformed, cut, is bool
	}{
		{name: "empty", payload: "", malformed: true},
		{name: "no JSON", payload: "{\"a\":\x00\xff\n", malformed: true},
		{name: "two values", payload: "{}{}", malformed: true},
		{name: "short", payload: `{"a":[1,2.50,null]}`, inline: true},
		{name: "just inline", payload: long(maxHookInline - 1), inline: true},
		{name: "beyond", payload: long(maxHookInline + 3)},
		{name: "a megabyte", payload: long(1 << 20)},
		{name: "the most", payload: long(MaxHookPayload - 1)},
		{name: "more than the most", payload: long(MaxHookPayload + 99), malformed: true, cut: true},
	} {
		a.hook(c.payload, "--tell", "Payload").silent()
		id := a.asked(i + 1)
		_, hooks := hooksOf(t, a.spec.Dir)
		d := hooks[i]
		if d.Bytes != int64(len(c.payload)) || d.Malformed != c.malformed || d.Truncated != c.cut || (len(d.Payload) > 0) != c.inline {
			d.Payload, d.Head, d.Raw = nil, "", nil
			t.Errorf("%s: %+v", c.name, d)
		}
		if len(c.payload) > maxHookInline && (!d.File || !strings.HasPrefix(c.payload, d.Head) || len(d.Head) < hookHeadSize-4) {
			t.Errorf("%s: file %v, head of %d bytes", c.name, d.File, len(d.Head))
		}
		got, err := ReadHook(a.spec.Dir, id)
		if want := c.payload[:min(len(c.payload), MaxHookPayload)]; err != nil || string(got) != want {
			t.Errorf("%s: read %d bytes of %d, %v", c.name, len(got), len(want), err)
		}
	}
	if _, err := ReadHook(a.spec.Dir, 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("payload of no hook: %v", err)
	}
}

// TestPayloadsGoWithTheirRecords writes more than the logs keep.
func TestPayloadsGoWithTheirRecords(t *testing.T) {
	a := newAgent(t)
	a.spec.ControlLimit = 512 << 10
	l := start(t, a.spec)
	a.hook(`"`+strings.Repeat("x", maxHookInline)+`"`, "--tell").silent()
	id := a.asked(1)
	if noFile(hookFile(a.spec.Dir, id)) {
		t.Fatal("no file")
	}
	note := json.RawMessage(`"` + strings.Repeat("n", 30<<10) + `"`)
	for range 40 {
		if err := l.Note("note", note); err != nil {
			t.Fatal(err)
		}
	}
	if !noFile(hookFile(a.spec.Dir, id)) {
		t.Error("the payload is left")
	}
	files := &hookFiles{dir: filepath.Join(t.TempDir(), hooksDir), limit: 25}
	for n := range uint64(5) {
		name, err := files.write(make([]byte, 10))
		if err != nil {
			t.Fatal(err)
		}
		if err := files.keep(name, n+1, 10); err != nil {
			t.Fatal(err)
		}
	}
	if files.total != 20 || len(files.kept) != 2 || !noFile(hookFile(filepath.Dir(files.dir), 3)) || noFile(hookFile(filepath.Dir(files.dir), 4)) {
		t.Errorf("kept %+v", files.kept)
	}
	again, err := openHookFiles(filepath.Dir(files.dir), 25, 5)
	if err != nil || again.total != 20 {
		t.Errorf("opened: %+v, %v", again, err)
	}
	lost, err := openHookFiles(filepath.Dir(files.dir), 25, 4)
	if err != nil || lost.total != 10 || !noFile(hookFile(filepath.Dir(files.dir), 5)) {
		t.Errorf("opened where the last record was lost: %+v, %v", lost, err)
	}
}

// TestPayloadOfALostRecord: a full disk took the record of a large payload, but not its file. The next hook gets its number, and is answered by
// its own payload.
func TestPayloadOfALostRecord(t *testing.T) {
	a := newAgent(t)
	start(t, a.spec)
	a.hook(`{"plan":"mine"}`, "--tell", "Stop").silent()
	ids, _ := hooksOf(t, a.spec.Dir)
	if len(ids) != 1 {
		t.Fatalf("%d hooks", len(ids))
	}
	n := ids[0]
	files := &hookFiles{dir: filepath.Join(a.spec.Dir, hooksDir), limit: 1 << 20}
	name, err := files.write([]byte(`{"plan":"another's"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := files.keep(name, n, 20); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadHook(a.spec.Dir, n); err != nil || string(got) != `{"plan":"mine"}` {
		t.Errorf("%s, %v", got, err)
	}
}

// TestStorm has a program in the session tell much more than is recorded.
func TestStorm(t *testing.T) {
	a := newAgent(t)
	start(t, a.spec)
	const events = 600
	out := a.run("", exe(t), "program", "storm", fmt.Sprint(events)).wait()
	if out.Status != 0 {
		t.Fatalf("%+v", out)
	}
	a.hook(`{}`, "--tell", "Rare").silent()
	counts := func() (recorded, rare, missed int) {
		_, hooks := hooksOf(t, a.spec.Dir)
		for _, h := range hooks {
			if h.Event == "Rare" {
				rare++
			} else {
				recorded++
			}
		}
		for _, c := range ofKind[CoalescedData](t, a.spec.Dir, KindCoalesced) {
			missed += c.Count
			if c.Events["Storm"] != c.Count || c.To.Before(c.From.Time) {
				t.Errorf("%+v", c)
			}
		}
		return
	}
	eventually(t, "all events are reported", func() bool {
		recorded, _, missed := counts()
		return recorded+missed == events
	})
	recorded, rare, missed := counts()
	t.Logf("%d recorded, %d coalesced", recorded, missed)
	if rare != 1 || recorded < hooksASecond {
		t.Errorf("%d recorded, %d rare", recorded, rare)
	}
}

// TestManyWaitAtOnce has more hooks wait than may.
func TestManyWaitAtOnce(t *testing.T) {
	a := newAgent(t)
	l := start(t, a.spec)
	out := a.run("", exe(t), "program", "waits", fmt.Sprint(maxWaiting+5)).wait()
	if string(out.Stdout) != "5 let go\n" {
		t.Errorf("%q", out.Stdout)
	}
	_ = l
	busy, hungUp := 0, 0
	eventually(t, "the rest hang up", func() bool {
		busy, hungUp = 0, 0
		for _, g := range ofKind[GoneData](t, a.spec.Dir, KindGone) {
			switch g.Why {
			case GoneBusy:
				busy++
			case GoneHungUp:
				hungUp++
			}
		}
		return busy+hungUp == maxWaiting+5
	})
	if busy != 5 {
		t.Errorf("%d were busy", busy)
	}
}

func TestOldHolderTakesNoHooks(t *testing.T) {
	spec := testSpec(t, "cat")
	l := start(t, spec)
	if l.Welcome().TakesHooks {
		t.Error("a holder with no hook socket takes hooks")
	}
	if err := l.Verdict(1, nil, 0); !errors.Is(err, ErrNoHooks) {
		t.Errorf("verdict: %v", err)
	}
	if err := l.Release(1); !errors.Is(err, ErrNoHooks) {
		t.Errorf("release: %v", err)
	}
}
