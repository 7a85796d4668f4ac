package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"berth/test/agents/modelapi"
)

// Scenarios are what every agent must do alike. docs/agents/scenarios.md has the table.
var Scenarios = []Scenario{
	{Name: "turn", What: "a message is delivered, its turn is followed, its reply and its usage are known", run: turn},
	{Name: "messages", What: "messages of all kinds arrive once and exactly; none is a command, a key or a file", run: messages},
	{Name: "from-others", What: "messages of other sessions arrive after their mark; none is a command, a key or a file", run: fromOthers},
	{Name: "refusals", What: "no message is typed over a draft, into a turn or into a dialog", run: refusals},
	{Name: "queue", What: "messages that wait for a turn's end arrive once and in order", run: queue},
	{Name: "interrupt", What: "`interrupt` ends a turn, and presses nothing at rest or at a prompt", run: interrupt},
	{Name: "errors", What: "a turn that fails is an error of its class, until the next message", run: turnErrors},
	{Name: "permission", What: "a command is accepted and denied, once, through the channel of the agent", run: permission},
	{Name: "odd-commands", What: "the prompt shows a command unchanged, also one with lines of a dialog", run: oddCommands},
	{Name: "two-in-a-row", What: "one answer never answers two dialogs", run: twoInARow},
	{Name: "person-first", What: "an answer after a person's key answers nothing", run: personFirst},
	{Name: "small-window", What: "an answer to a dialog in a window of 40x20 is given, or refused as long as the dialog is cut off", run: smallWindow},
	{Name: "killed-in-a-turn", What: "a turn goes on while the server is killed and started again", run: killedInATurn},
	{Name: "killed-at-a-prompt", What: "a prompt keeps its id while the server is killed, and is answered once", run: killedAtAPrompt},
	{Name: "killed-in-an-answer", What: "the server is killed while an answer is given: the command runs once, and the answer is never given twice", run: killedInAnAnswer},
	{Name: "restart", What: "`restart` resumes the conversation; so does `--restart on-failure` after a crash", flags: []string{"--restart", "on-failure"}, run: restart},
	{Name: "gate", What: "a gate holds the agent back at the end of its turn as often as its cap says", run: gate},
	{Name: "start-context", What: "a conversation starts with the context that the session has", run: startContext},
	{Name: "kill", What: "`kill` leaves no process, also while a command runs", run: kill},
	{Name: "no-hooks", What: "without hooks the state is known, a message is confirmed and a dialog is answered by keys", run: noHooks},
}

func turn(l *Lab, a *Agent) {
	states := follow(l)
	n := l.Nudge("MOCK: text The answer is 42.", "--wait", "--timeout", l.Patient.String())
	if n.Status != 0 || !n.Confirmed || !l.Evident(n.Evidence) || n.State == nil || *n.State != "idle" || n.LastMessage == nil || *n.LastMessage != "The answer is 42." {
		l.T.Errorf("%+v %+v", n, n.Error)
	}
	last, usage := "", regexp.MustCompile(a.Usage)
	l.Poll(func() bool { // the agent may write the usage down after the end of the turn
		last = l.Text("last", l.Name, "--json")
		return strings.Contains(last, `"text":"The answer is 42."`) && usage.MatchString(last)
	}, func() string { return "last: " + last })
	if got := states(); got != "working idle" {
		l.T.Errorf("states %s", got)
	}
	if out := l.Text("ask", l.Name, "MOCK: text Still 42."); out != "Still 42.\n" {
		l.T.Errorf("ask: %q", out)
	}
}

func messages(l *Lab, a *Agent) {
	Check(l.T, os.WriteFile(filepath.Join(l.Workspace, "notes.txt"), []byte("secret notes\n"), 0o600))
	for _, text := range slices.Concat([]string{
		"fix the login bug",
		"x",
		"1",
		"!touch ran.txt",
		"exit",
		"quit",
		"?",
		"@notes.txt",
		"read @notes.txt now",
		"mail a@b.example",
		"two\nlines",
		"three\n\nlines",
		"a\nb\nc\nd\ne",
		"first\n/second\n!third\nexit",
		"tab\there",
		"trailing blanks  \n\n",
		"an ESC \x1b[201~\r!touch ran.txt",
		"修复登录错误，然后运行测试。",
		"日本語のメッセージ\nと二行目",
		"emoji 👨‍👩‍👧 🇩🇪 👍🏽 done",
		"don't \"quote\" `x` \\ * ~",
		"echo $HOME",
		strings.Repeat("word ", 60) + "end",
		strings.Repeat("漢", 300),
		strings.TrimSpace(strings.Repeat("a line of text\n", 40)),
		strings.Repeat("0123456789", 100),
		strings.Repeat("0123456789", 1000),
		strings.TrimSpace(strings.Repeat("a line of a long message, with words in it\n", 240)),
	}, a.Messages(l)) {
		arrives, ok := a.Arrives[text]
		switch {
		case ok:
		case text == "trailing blanks  \n\n":
			arrives = "trailing blanks"
		case strings.Contains(text, "\x1b"):
			arrives = strings.NewReplacer("\x1b", "", "\r", "\n").Replace(text)
		default:
			arrives = text
		}
		as := ArrivedAs(text, arrives)
		if a.Itself[text] {
			as = "message"
		}
		l.ConfirmedAs(text, arrives, as)
		if l.T.Failed() {
			return
		}
	}
	made(l, "ran.txt", false)
	for _, r := range l.API.Requests() {
		if body := string(r.Body); strings.Contains(body, "secret notes") || strings.Contains(body, "has explicitly selected the following agent") {
			l.T.Fatal("a file was attached, or an agent chosen")
		}
	}
}

func refusals(l *Lab, a *Agent) {
	refused := func(code string) {
		l.T.Helper()
		if n := l.Nudge("not now"); n.Status != 5 || n.Error == nil || n.Error.Code != code {
			l.T.Fatalf("%+v %+v, not %s", n, n.Error, code)
		}
	}
	Check(l.T, l.Type(l.Ctx, "my draft"))
	l.See(a.Draft)
	refused("DRAFT_PRESENT")
	l.See(a.Draft)
	if n := l.Nudge("MOCK: slow 20 100", "--clear"); n.Status != 0 || !n.Confirmed {
		l.T.Fatalf("%+v %+v", n, n.Error)
	}
	l.Asked("MOCK: slow 20 100", 0)
	refused("AGENT_BUSY")
	a.rests(l)
	if n := l.Nudge(a.command("touch one.txt"), "--wait", "--timeout", l.Patient.String()); n.Status != 20 || n.State == nil || *n.State != "prompt" {
		l.T.Fatalf("%+v %+v", n, n.Error)
	}
	a.answerable(l, a.Channel, "")
	refused("AGENT_BUSY")
	l.Respond(a.Channel, "denied", "deny")
	a.rests(l)
	made(l, "one.txt", false)
	if l.API.Arrivals("not now") != 0 {
		l.T.Error("a refused message was delivered")
	}
}

func queue(l *Lab, a *Agent) {
	l.Takes("MOCK: slow 20 100")
	all := []string{"MOCK: text first of three", "MOCK: text second of three", "MOCK: text third of three"}
	for _, message := range all {
		if n := l.Nudge(message, "--queue"); n.Status != 0 || !n.Queued || n.QueueID == "" {
			l.T.Fatalf("%+v %+v", n, n.Error)
		}
	}
	l.Asked(all[2], 0)
	a.rests(l)
	var got []string
	for _, r := range l.API.Requests() {
		if slices.Contains(all, r.Prompt) && r.Step == 0 && !slices.Contains(got, r.Prompt) {
			got = append(got, r.Prompt)
		}
	}
	if !slices.Equal(got, all) {
		l.T.Errorf("they arrived as %q", got)
	}
	for _, message := range all {
		if n := l.API.Arrivals(message); n != 1 {
			l.T.Errorf("%s arrived %d times", message, n)
		}
	}
}

func interrupt(l *Lab, a *Agent) {
	if done, status := l.Interrupt(); status != 0 || done.Delivered || done.State != "idle" {
		l.T.Errorf("at rest: status %d, %+v", status, done)
	}
	for i, work := range append([]string{"MOCK: slow 80 200"}, a.Work...) {
		l.Takes(work)
		l.Asked(work, 0)
		l.Is("working")
		if strings.Contains(work, "slow") {
			l.See("line 002")
		} else if strings.Contains(work, "sleep") {
			l.See("sleep 20")
		}
		if done, status := l.Interrupt(); status != 0 || !done.Delivered || !done.Confirmed || done.State != "idle" {
			l.T.Errorf("%s: status %d, %+v", work, status, done)
		}
		after := fmt.Sprintf("and on %d", i)
		l.Confirmed(after, after)
	}
	a.asks(l, a.Channel, a.command("touch one.txt"))
	if done, status := l.Interrupt(); status != 5 {
		l.T.Errorf("at a prompt: status %d, %+v", status, done)
	}
	l.Respond(a.Channel, "denied", "deny")
	a.rests(l)
	made(l, "one.txt", false)
}

func turnErrors(l *Lab, a *Agent) {
	for i, e := range a.Errors {
		states := follow(l)
		if n := l.Nudge("MOCK: "+e[0], "--wait", "--timeout", "90s"); n.Status != 21 || n.State == nil || *n.State != "error" {
			l.T.Fatalf("%s: %+v %+v", e[0], n, n.Error)
		}
		if s := l.Said(); s.Failure == nil || s.Failure.Class != e[1] || s.Failure.Text == "" {
			l.T.Errorf("%s: the failure is %+v", e[0], s.Failure)
		}
		if got := states(); strings.Contains(got, "idle") {
			l.T.Errorf("%s: states %s", e[0], got)
		}
		better := fmt.Sprintf("MOCK: text better %d", i)
		l.Confirmed(better, better)
		if s := l.Said(); s.State != "idle" || s.Failure != nil {
			l.T.Errorf("%s: then it is %s, %+v", e[0], s.State, s.Failure)
		}
	}
}

func permission(l *Lab, a *Agent) {
	p := a.asks(l, a.Channel, a.command("touch one.txt"))
	if p.Type != "permission" || p.Input != "touch one.txt" || p.OnScreen == (a.HookHides && a.Channel == "hook") {
		l.T.Errorf("it asks %+v", p)
	}
	if r := l.Respond(a.Channel, "accepted", "accept"); r.Prompt != p.ID || r.Type != "permission" {
		l.T.Errorf("answered %+v, asked %+v", r, p)
	}
	a.rests(l)
	made(l, "one.txt", true)
	stale(l, p.ID)
	l.Refuses("NO_PROMPT", "accept")
	a.asks(l, a.Channel, a.command("touch denied.txt"))
	l.Respond(a.Channel, "denied", "deny")
	a.rests(l)
	made(l, "denied.txt", false)
	if a.Channel == "hook" {
		const reason = "use another file, don't touch this"
		message := a.command("touch reason.txt")
		a.asks(l, a.Channel, message)
		l.Respond(a.Channel, "denied", "deny", reason)
		l.ModelGot(message, reason)
		a.rests(l)
		made(l, "reason.txt", false)
	}
}

func oddCommands(l *Lab, a *Agent) {
	common := map[string]string{
		"lines": "touch FILE\n\n\necho done\nls",
		"text":  "cat > FILE <<EOF\nfirst\n\n  second\nEOF",
	}
	for _, commands := range []map[string]string{common, a.Commands} {
		for name, command := range commands {
			file := strings.ReplaceAll(name, " ", "-") + ".txt"
			command = strings.ReplaceAll(command, "FILE", file)
			l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(a.Tool(command)), modelapi.Say(modelapi.Text("The command finished."))}})
			p := a.asks(l, a.Channel, "please make "+file)
			if shown := string([]rune(command)[:min(200, len([]rune(command)))]); p.Input != shown {
				l.T.Errorf("%s: it asks %q", name, p.Input)
			}
			l.Respond(a.Channel, "accepted", "--prompt", p.ID, "accept")
			a.rests(l)
			made(l, file, true)
		}
	}
}

// fileOfTwo finds the file that a command of two makes.
var fileOfTwo = regexp.MustCompile(`\b(?:(?:first|second)(?:\.txt)?|p\d(?:\.txt)?)$|\b(?:first|second|p\d)\.txt\b`)

func twoInARow(l *Lab, a *Agent) {
	for _, channel := range a.channels() {
		if channel != a.Channel {
			l.Attach()
		}
		for _, message := range []string{"MOCK: " + a.AskTwo, "MOCK: parallel 2"} {
			one := a.asks(l, channel, message)
			first := fileOfTwo.FindString(one.Input)
			l.Respond(channel, "accepted", "--takeover", "--prompt", one.ID, "accept")
			two := a.answerable(l, channel, one.ID)
			second := fileOfTwo.FindString(two.Input)
			stale(l, one.ID)
			made(l, second, false)
			l.Respond(channel, "denied", "--takeover", "--prompt", two.ID, "deny")
			a.rests(l)
			made(l, first, true)
			made(l, second, false)
			Check(l.T, os.Remove(filepath.Join(l.Workspace, first)))
		}
	}
}

// channels are the agent's channel, and keys where the dialog comes only for an attached client.
func (a *Agent) channels() []string {
	if a.HookHides {
		return []string{a.Channel, "keys"}
	}
	return []string{a.Channel}
}

func personFirst(l *Lab, a *Agent) {
	person := l.Attach()
	channel := a.channels()[len(a.channels())-1]
	press := func(key string) {
		l.T.Helper()
		if a.Listens != nil {
			a.Listens(l)
		}
		arrived := len(l.Events("input"))
		Check(l.T, person.Type(key))
		l.Poll(func() bool { return len(l.Events("input")) > arrived }, func() string { return key + " did not arrive" })
	}
	late := func(prompt string) {
		l.T.Helper()
		if r, status := l.Try("", "--takeover", "--prompt", prompt, "accept"); status != 6 || r.Confirmed {
			l.T.Errorf("after a person's key: status %d, %+v %+v", status, r, r.Error)
		}
	}
	one := a.asks(l, channel, "MOCK: "+a.AskTwo)
	press(a.Yes)
	late(one.ID)
	two := a.answerable(l, channel, one.ID)
	second := fileOfTwo.FindString(two.Input)
	made(l, second, false)
	press(a.No)
	late(two.ID)
	a.rests(l)
	made(l, "first.txt", true)
	made(l, second, false)
}

func smallWindow(l *Lab, a *Agent) {
	const file = "quite_a_long_file_name_for_a_phone_to_show.txt"
	channel := a.channels()[len(a.channels())-1]
	if channel != a.Channel {
		l.Attach()
	}
	for _, answer := range [][2]string{{"deny", "denied"}, {"accept", "accepted"}} {
		p := a.asks(l, channel, a.command("touch "+file))
		l.Call("resize", l.Name, "40x20")
		r, status := l.Try("", "--takeover", "--prompt", p.ID, answer[0])
		l.T.Logf("%s at 40x20: status %d, %s %+v", answer[0], status, r.Outcome, r.Error)
		if status != 0 { // the dialog is cut off there
			made(l, file, false)
			l.Call("resize", l.Name, "120x40")
			now := l.PromptUntil("drawn at the larger size", func(now Shown) bool {
				return now.Input == p.Input && a.takes(now, channel)
			})
			l.Respond(channel, answer[1], "--takeover", "--prompt", now.ID, answer[0])
		} else if r.Outcome != answer[1] {
			l.T.Errorf("%s: %+v", answer[0], r)
		}
		a.rests(l)
		made(l, file, answer[0] == "accept")
		l.Call("resize", l.Name, "120x40")
	}
}

func killedInATurn(l *Lab, a *Agent) {
	states := follow(l)
	l.Takes("MOCK: slow 30 100")
	l.See("line 002")
	Check(l.T, l.Host.Kill())
	Check(l.T, l.Host.Start())
	a.rests(l)
	l.See("slow end")
	if got := states(); got != "working idle" {
		l.T.Errorf("states %s", got)
	}
	if last := l.Text("last", l.Name); !strings.HasSuffix(last, "slow end\n") {
		l.T.Errorf("last is %q", last)
	}
	if n := l.API.Arrivals("MOCK: slow 30 100"); n != 1 {
		l.T.Errorf("the message arrived %d times", n)
	}
	l.Confirmed("MOCK: text and on", "MOCK: text and on")
}

func killedAtAPrompt(l *Lab, a *Agent) {
	before := a.asks(l, a.Channel, a.command("touch one.txt"))
	Check(l.T, l.Host.Kill())
	Check(l.T, l.Host.Start())
	after := a.answerable(l, a.Channel, "")
	if after.ID != before.ID || after.Input != "touch one.txt" {
		l.T.Fatalf("the prompt was %+v and is %+v", before, after)
	}
	l.Respond(a.Channel, "accepted", "--prompt", before.ID, "accept")
	stale(l, before.ID)
	a.rests(l)
	made(l, "one.txt", true)
	l.Confirmed("MOCK: text and on", "MOCK: text and on")
}

func restart(l *Lab, a *Agent) {
	l.Call("restart", l.Name) // the conversation is still empty
	a.rests(l)
	l.Confirmed("MOCK: text remember the lab", "MOCK: text remember the lab")
	l.Call("restart", l.Name)
	a.rests(l)
	l.Confirmed("MOCK: text and now", "MOCK: text and now")
	l.ModelGot("MOCK: text and now", "remember the lab")
	before := l.Info()
	Check(l.T, syscall.Kill(before.PID, syscall.SIGKILL))
	l.Poll(func() bool { now := l.Info(); return now.PID != before.PID && now.PID != 0 && now.State == "idle" }, func() string { return "it is not started again" })
	a.rests(l)
	l.Confirmed("MOCK: text after the crash", "MOCK: text after the crash")
	l.ModelGot("MOCK: text after the crash", "remember the lab")
	if now := l.Info().Conversation; now == "" || now != before.Conversation {
		l.T.Errorf("the conversation was %q, and is %q", before.Conversation, now)
	}
}

func gate(l *Lab, a *Agent) {
	states := follow(l)
	l.Call("gate", l.Name, "--cap", "2", "gate", "Not yet: run the tests.")
	if n := l.Nudge("MOCK: text done", "--wait", "--timeout", "60s"); n.Status != 0 || n.State == nil || *n.State != "idle" {
		l.T.Fatalf("%+v %+v", n, n.Error)
	}
	blocked := 0
	for _, e := range l.Events("gate") {
		if e.Kind == "blocked" {
			blocked++
		}
	}
	if blocked != 2 {
		l.T.Errorf("it was held back %d times", blocked)
	}
	if !slices.ContainsFunc(l.API.Requests(), func(r modelapi.Request) bool { return strings.Contains(string(r.Body), "Not yet: run the tests.") }) {
		l.T.Error("the model did not get the gate's text")
	}
	if got := states(); strings.Count(got, "idle") != 1 || !strings.HasSuffix(got, "idle") {
		l.T.Errorf("states %s", got)
	}
	l.Call("gate", l.Name, "allow")
	l.Confirmed("MOCK: text at last", "MOCK: text at last")
}

func startContext(l *Lab, a *Agent) {
	l.Call("start-context", l.Name, "any", "The context of this lab is 4711.")
	l.Call("restart", l.Name)
	a.rests(l)
	l.Confirmed("MOCK: text hello", "MOCK: text hello")
	l.ModelGot("MOCK: text hello", "The context of this lab is 4711.")
	if all := l.Events("start_context"); len(all) < 2 || all[len(all)-1].Kind != "given" {
		l.T.Errorf("%+v", all)
	}
}

func kill(l *Lab, a *Agent) {
	a.asks(l, a.Channel, a.command("tail -f /dev/null && touch slept.txt"))
	l.Respond(a.Channel, "accepted", "accept")
	l.Is("working")
	runs := func() bool {
		return slices.ContainsFunc(l.Processes(), func(p string) bool { return strings.HasPrefix(p, "tail -f /dev/null") })
	}
	l.Poll(runs, func() string { return fmt.Sprintf("the command does not run: %q", l.Processes()) })
	l.Call("kill", l.Name)
	began := time.Now()
	for left := l.Processes(); len(left) > 0; left = l.Processes() {
		if time.Since(began) > 5*time.Second {
			l.T.Fatalf("5 s after kill there is %q", left)
		}
	}
	l.T.Logf("all were gone %v after kill", time.Since(began).Round(time.Millisecond))
}

func noHooks(l *Lab, a *Agent) {
	l.Takes("MOCK: slow 10 300")
	a.rests(l)
	for file, answer := range map[string][2]string{"one.txt": {"accept", "accepted"}, "two.txt": {"deny", "denied"}} {
		p := a.asks(l, "keys", a.command("touch "+file))
		if p.Type != "permission" || p.Input != "touch "+file {
			l.T.Errorf("it asks %+v", p)
		}
		l.Respond("keys", answer[1], answer[0])
		a.rests(l)
		made(l, file, answer[0] == "accept")
	}
	if n := l.Nudge("MOCK: "+a.Errors[0][0], "--wait", "--timeout", "90s"); n.Status != 21 {
		l.T.Errorf("%+v %+v", n, n.Error)
	}
	for _, e := range l.Events("hook") {
		if !e.Foreign {
			l.T.Errorf("a hook ran: %+v", e)
		}
	}
}
