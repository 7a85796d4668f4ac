package generic

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/detect"
)

// play runs the reports of a program on a fake clock. A line is a time in milliseconds and the
// report:
//
//	osc N PAYLOAD | hook STATE MESSAGE | look GROUP (of a shell whose own is 1) | output | tick
//
// After => is the state at that time, and after a blank its cause.
func play(t *testing.T, d Driver, script string) *detect.Fold {
	t.Helper()
	start := time.Unix(1000, 0)
	f := detect.New(d, detect.Options{Start: start})
	for line := range strings.Lines(strings.TrimSpace(script)) {
		line = strings.TrimSpace(line)
		did, want, _ := strings.Cut(line, "=>")
		words := strings.SplitN(strings.TrimSpace(did), " ", 4)
		var ms int
		fmt.Sscan(words[0], &ms)
		now := start.Add(time.Duration(ms) * time.Millisecond)
		for at := f.Deadline(); !at.IsZero() && !at.After(now); at = f.Deadline() {
			f.Tick(at)
		}
		for _, fact := range says(t, d, append(words, "", "", "")) {
			fact.Time = now
			f.Apply(fact)
		}
		f.Tick(now)
		st := f.Status()
		if got := string(st.State) + " " + st.Cause; !strings.HasPrefix(got+" ", strings.TrimSpace(want)+" ") {
			t.Errorf("%s: it is %s", line, got)
		}
	}
	return f
}

func says(t *testing.T, d Driver, words []string) []agent.Fact {
	t.Helper()
	var n int
	fmt.Sscan(words[2], &n)
	switch words[1] {
	case "osc":
		return d.OSC(n, words[3])
	case "hook":
		facts, err := d.Hook(fmt.Appendf(nil, `{"berth":"state","state":%q,"message":%q}`, words[2], words[3]))
		if err != nil {
			t.Fatal(err)
		}
		return facts
	case "look":
		return d.Process(agent.Process{Leader: 1, Foreground: n, Program: words[3]})
	case "output":
		return []agent.Fact{{Kind: agent.Spoke, Source: agent.SourceProcess}}
	}
	return nil
}

func TestStates(t *testing.T) {
	for name, c := range map[string]struct {
		shell  bool
		script string
	}{
		"nothing is known": {false, `
			0 look 1 => unknown process:running
			90000 output => unknown`},
		"a shell": {true, `
			0 look 0 => starting
			50 look 1 => idle process:foreground
			1000 look 7 make => working process:foreground:make
			3000 look 1 => working
			3100 tick => idle process:foreground`},
		"a shell from one command to the next": {true, `
			0 look 1 => idle
			100 look 7 a => working
			200 look 8 b => working
			300 look 1 => working
			350 look 9 c => working
			400 look 1 => working
			500 tick => idle`},
		"a command that starts when the shell is found at rest": {true, `
			0 look 1 => idle
			100 look 7 a => working
			200 look 1 => working
			300 look 8 b => working process:foreground:b
			400 look 1 => working
			500 tick => idle`},
		"a shell with marks": {true, `
			0 look 1 => idle process:foreground
			10 osc 133 A => idle
			20 osc 133 B => idle
			1000 osc 133 C => working osc:133:C
			1050 look 7 make => working
			3000 look 1 => working
			3010 osc 133 D;0 => working
			3012 osc 133 A => working
			3115 tick => idle osc:133:D`},
		"a command that fails, and an empty line": {true, `
			0 look 1 => idle
			10 osc 133 D;1 => idle
			20 osc 133 A => idle
			1000 osc 133 C => working
			1500 osc 133 D;2 => error osc:133:D
			1510 osc 133 A => error
			3000 osc 133 D;2 => error
			4000 osc 133 C => working
			4010 osc 133 D => working
			4200 tick => idle`},
		"Ctrl-C isn't an error": {true, `
			0 osc 133 A => idle
			1000 osc 133 C => working
			1500 osc 133 D;130 => working
			1700 tick => idle`},
		"a builtin that waits is work": {true, `
			0 look 1 => idle
			100 osc 133 A => idle
			1000 osc 133 C => working
			90000 look 1 => working`},
		"a remote shell that was cut off amid a command": {true, `
			0 look 1 => idle
			1000 look 7 ssh => working
			1500 osc 133 A => idle
			2000 osc 133 C => working
			2100 look 7 ssh => working
			9000 look 1 => working
			9100 tick => idle process:foreground`},
		"the state sequence": {false, `
			0 look 1 => unknown
			100 osc 7501 state=idle:app=x => idle
			1000 osc 7501 state=working:app=x => working osc:7501:working
			2000 osc 7501 state=blocked:app=x:kind=permission => prompt osc:7501:blocked
			3000 osc 7501 state=working:app=x => working
			4000 osc 7501 state=done:app=x => working
			4100 tick => idle
			5000 osc 7501 state=working:app=x => working
			6000 osc 7501 state=error:app=x => error
			6500 osc 7501 state=idle:app=x => error
			7000 osc 7501 state=clear:app=x => unknown`},
		"progress, while nothing surer is known": {false, `
			0 look 1 => unknown
			100 osc 9 4;0 => idle
			1000 osc 9 4;1;50 => working osc:9;4;1
			2000 osc 9 4;0;0 => idle
			3000 osc 9 4;3 => working
			4000 osc 9 4;2;50 => error osc:9;4;2
			5000 osc 7501 state=working:app=x => working
			6000 osc 9 4;0 => working`},
		"progress in a shell isn't a state": {true, `
			0 look 1 => idle
			1000 look 7 cargo => working
			1500 osc 9 4;1;50 => working
			2000 osc 9 4;0 => working
			60000 look 7 cargo => working`},
		"told": {false, `
			0 look 1 => unknown
			100 hook working a thing => working hook:state:working
			1000 hook prompt which one => prompt hook:state:prompt
			2000 hook prompt and now => prompt hook:state:prompt
			3000 hook idle => idle hook:state:idle
			4000 hook error no disk => error
			5000 hook idle => error
			6000 hook working => working
			7000 hook done => working
			7100 tick => idle
			8000 hook prompt well => prompt
			9000 hook unknown => unknown`},
		"a report in a shell, by a program that has gone": {true, `
			0 look 1 => idle
			100 look 7 sh => working
			150 hook prompt go on => prompt
			200 look 7 sh => prompt
			900 look 1 => working
			1000 tick => idle process:foreground`},
		"a report between two polls": {true, `
			0 look 1 => idle
			2000 look 1 => idle
			2010 hook working => working
			2050 look 7 sh => working hook:state:working
			2100 hook prompt go on => prompt
			4000 look 7 sh => prompt`},
		"a report and an exit between two polls": {true, `
			0 look 1 => idle
			2010 hook working => working
			4000 look 1 => working
			7009 look 1 => working
			7010 tick => working
			7110 tick => idle process:foreground`},
	} {
		t.Run(name, func(t *testing.T) { play(t, Driver{shell: c.shell}, c.script) })
	}
}

func TestToldPrompts(t *testing.T) {
	f := play(t, Driver{}, `
		100 hook prompt which one => prompt
		200 hook prompt or this => prompt`)
	st := f.Status()
	if len(st.Requests) != 1 || *st.Request.Text != "or this" || st.Request.ID != "2" {
		t.Errorf("asked is %+v", st.Requests)
	}
	f = play(t, Driver{}, "100 hook error out of disk => error")
	if failure := f.Status().Failure; failure.Text != "out of disk" || failure.Class != agent.OtherFailure {
		t.Errorf("failure %+v", failure)
	}
}

// TestWordsAreData: the text in a program's report can't control a terminal.
func TestWordsAreData(t *testing.T) {
	facts, err := Driver{}.Hook([]byte(`{"berth":"state","state":"prompt","message":"a\u001b[2J\u202eb\u200bc\nd\u0007"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		if f.Kind == agent.Asked && *f.Request.Text != "a␛[2Jbc\nd␇" {
			t.Errorf("it asks %q", *f.Request.Text)
		}
	}
	for _, payload := range []string{`{`, `[]`, `"x"`} {
		if facts, err := (Driver{}).Hook([]byte(payload)); err == nil {
			t.Errorf("%s: %+v", payload, facts)
		}
	}
	for _, payload := range []string{`{}`, `{"berth":"other","state":"idle"}`, `{"berth":"state","state":"asleep"}`, `{"state":"idle","session_id":"x"}`} {
		facts, err := Driver{}.Hook([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range facts {
			if f.Kind == agent.LevelIs || f.Kind == agent.TurnStarted || f.Kind == agent.Asked {
				t.Errorf("%s says %+v", payload, f)
			}
		}
	}
}

func FuzzOSC(f *testing.F) {
	f.Add(133, "D;2;aid=1")
	f.Add(9, "4;1;50")
	f.Add(7501, "state=working:app=x")
	f.Fuzz(func(t *testing.T, n int, payload string) {
		for _, shell := range []bool{false, true} {
			for _, fact := range (Driver{shell: shell}).OSC(n, payload) {
				if fact.Kind == agent.Asked || fact.Source != agent.SourceOSC && fact.Source != agent.SourceProgress {
					t.Errorf("%d;%q says %+v", n, payload, fact)
				}
			}
		}
	})
}
