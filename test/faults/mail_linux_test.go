package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMessagesKilled has sessions send each other messages while the server is killed again and again. Each
// message arrives once, in the order of its pair, and has the status that its receiver's own record bears
// out. BERTH_SOAK_MESSAGES is their number.
func TestMessagesKilled(t *testing.T) {
	m := &mails{senders: 4, receivers: 3, messages: 20, kills: 2, quiet: 3, every: 500 * time.Millisecond}
	if n, err := strconv.Atoi(os.Getenv("BERTH_SOAK_MESSAGES")); err == nil {
		// An agent may send 20 a minute, so more messages need more senders.
		*m = mails{senders: 12, receivers: 6, messages: n, kills: n / 10, quiet: 100, every: 4 * time.Second}
	}
	m.host = newHost(t, fast) // many short processes of berth, which a race detector would slow down
	m.prepare()
	m.start("--config", m.config)
	for i := range m.receivers {
		m.idle(reader(i))
	}
	must(t, os.WriteFile(filepath.Join(m.dir, "go"), nil, 0o600))
	begun, killed := time.Now(), 0
	for !m.done() || killed < m.kills {
		if limit := patience + time.Duration(m.messages)*time.Second; time.Since(begun) > limit {
			t.Fatalf("not all messages are sent after %v and %d kills", limit, killed)
		}
		time.Sleep(50*time.Millisecond + rand.N(m.every)) // a kill comes at any moment
		if killed < m.kills {
			m.kill()
			m.start("--config", m.config)
			killed++
		}
	}
	m.judge()
	m.measure()
}

// mails is a server with sessions that send each other messages.
type mails struct {
	*host
	config                                     string
	senders, receivers, messages, kills, quiet int
	every                                      time.Duration // between two kills at most
}

func reader(i int) string { return fmt.Sprintf("web%d", i) }
func sender(i int) string { return fmt.Sprintf("lead%d", i) }

// prepare writes the configuration, the senders' plans and the receivers' program.
func (m *mails) prepare() {
	m.t.Helper()
	program := m.agent()
	m.file("send.sh", `while [ ! -f go ]; do sleep 0.05; done
n=0
while read -r to; do
	while n=$((n+1)); out=$("$EXE" tell "$to" "$NAME $n" 2>/dev/null </dev/null); status=$?; echo "$n $to $status $out" >> "$NAME.log"; [ $status != 0 ]; do
		sleep 0.1
	done
done < "$NAME.plan"
touch "$NAME.done"
exec cat
`)
	config := &strings.Builder{}
	fmt.Fprintln(config, "sessions:")
	for i := range m.receivers {
		fmt.Fprintf(config, "  - {name: %s, agent: claude, command: [%s], cwd: %s, team: blue, env: {HOOK: %s, SAID: %s.said}}\n", reader(i), program, m.dir, m.berth, reader(i))
	}
	plans := make([]string, m.senders)
	for n := range m.messages {
		plans[n%m.senders] += reader(rand.IntN(m.receivers)) + "\n"
	}
	for i, plan := range plans {
		fmt.Fprintf(config, "  - {name: %s, command: [sh, send.sh], cwd: %s, team: blue, env: {EXE: %s, NAME: %s}}\n", sender(i), m.dir, m.berth, sender(i))
		m.file(sender(i)+".plan", plan)
	}
	m.config = m.file("berth.yaml", config.String())
}

// agent is the path of the scripts' stand-in for an agent, which notes each message that it sends in SAID.
func (m *mails) agent() string {
	m.t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "testdata", "composer.sh"))
	must(m.t, err)
	return path
}

func (m *mails) file(name, text string) string {
	m.t.Helper()
	file := filepath.Join(m.dir, name)
	must(m.t, os.WriteFile(file, []byte(text), 0o700))
	return file
}

// idle waits until an agent is.
func (m *mails) idle(name string) {
	m.t.Helper()
	out, status := m.try(nil, "wait", name, "--timeout", patience.String())
	if status != 0 {
		m.t.Fatalf("%s isn't idle: status %d %s", name, status, out)
	}
}

// done says that every sender has sent what it should.
func (m *mails) done() bool {
	files, _ := filepath.Glob(filepath.Join(m.dir, "*.done"))
	return len(files) == m.senders
}

type mailed struct {
	Message uint64
	Session string
	Text    string
	Status  string
	From    struct{ Name string }
	Event   string    // of the child that the message is about
	Expires time.Time `json:"expires_at"`
	Way     []struct {
		Status string
		At     time.Time `json:"happened_at"`
	}
}

// path are the statuses that the message has had.
func (m mailed) path() (list string) {
	for _, step := range m.Way {
		list += step.Status + " "
	}
	return list
}

// inbox are the messages for a session.
func (m *mails) inbox(name string) []mailed {
	m.t.Helper()
	var list []mailed
	for cursor, more := "e0", true; more; {
		page := answer[struct {
			Messages []mailed
			Cursor   string
			More     bool
		}](m.host, "inbox", name, "--since", cursor, "--limit", "1000")
		list, cursor, more = append(list, page.Messages...), page.Cursor, page.More
	}
	return list
}

// judge compares what the server says of each message with what the senders and the receivers have noted.
func (m *mails) judge() {
	m.t.Helper()
	all := m.settled()
	answered, failed := 0, 0
	for i := range m.senders {
		for _, line := range m.lines(sender(i) + ".log") {
			var n, status int
			var to, rest string
			_, err := fmt.Sscan(line, &n, &to, &status)
			must(m.t, err)
			if status != 0 {
				failed++
				continue
			}
			answered++
			rest = line[strings.Index(line, "{"):]
			var sent struct{ Message uint64 }
			must(m.t, json.Unmarshal([]byte(rest), &sent))
			if one := all[sent.Message]; one.Text != fmt.Sprint(sender(i), " ", n) || one.Session != to || one.From.Name != sender(i) {
				m.t.Errorf("message %d was accepted as %q for %s, and is %+v", sent.Message, line, to, one)
			}
		}
	}
	if answered != m.messages {
		m.t.Errorf("%d messages were accepted, want %d", answered, m.messages)
	}
	came := map[uint64]int{}
	for i := range m.receivers {
		last := map[string]int{} // the newest of each sender
		for _, line := range m.lines(reader(i) + ".said") {
			var number uint64
			var from string
			var n int
			mark, text, _ := strings.Cut(line, "] ")
			if _, err := fmt.Sscanf(mark, "[message %d from agent ", &number); err != nil {
				m.t.Errorf("%s read %q: %v", reader(i), line, err)
			}
			_, err := fmt.Sscan(text, &from, &n)
			if came[number]++; err != nil || all[number].Text != text || all[number].Session != reader(i) {
				m.t.Errorf("%s read %q, and message %d is %+v", reader(i), line, number, all[number])
			}
			if n <= last[from] {
				m.t.Errorf("%s read %d of %s after %d", reader(i), n, from, last[from])
			}
			last[from] = n
		}
	}
	logged := m.logged()
	statuses := map[string]int{}
	for number, one := range all {
		statuses[one.Status]++
		if came[number] != 1 || one.Status != "taken" && one.Status != "unconfirmed" {
			m.t.Errorf("message %d is %s and came %d times: %+v\nits deliveries:\n%s", number, one.Status, came[number], one, m.deliveries(one))
		}
		if one.path() != logged[number] || one.path() != "accepted delivered "+one.Status+" " {
			m.t.Errorf("message %d went %q, and its events are %q", number, one.path(), logged[number])
		}
	}
	if lost := m.messages - statuses["taken"]; lost > m.kills {
		m.t.Errorf("%d messages aren't known to be taken, after %d kills", lost, m.kills)
	}
	m.t.Logf("%d messages of %d senders to %d agents, %d kills: %d came, each once and in order; %d calls failed and were repeated; %v",
		m.messages, m.senders, m.receivers, m.kills, len(came), failed, statuses)
}

// settled are all messages, once each has the status that it keeps. None is without that while its agent takes no
// other for 60 s.
func (m *mails) settled() map[uint64]mailed {
	m.t.Helper()
	all := map[uint64]mailed{}
	var open []string
	moved := time.Now()
	for before := -1; before != 0; time.Sleep(100 * time.Millisecond) {
		open = open[:0]
		for i := range m.receivers {
			for _, one := range m.inbox(reader(i)) {
				if all[one.Message] = one; one.Status == "accepted" || one.Status == "delivered" {
					open = append(open, fmt.Sprintf("%+v\n%s", one, m.deliveries(one)))
				}
			}
		}
		if len(open) != before {
			before, moved = len(open), time.Now()
		}
		if time.Since(moved) >= 60*time.Second {
			for i := range m.receivers {
				queue, _ := m.try(nil, "queue", reader(i))
				screen, _ := m.try(nil, "screen", reader(i), "--text")
				m.t.Logf("%s: %s\n%s", reader(i), queue, screen)
			}
			m.t.Fatalf("%d messages have no status after 60 s: %s", len(open), strings.Join(open, "\n"))
		}
	}
	return all
}

// logged are the statuses of each message as the events have them.
func (m *mails) logged() map[uint64]string {
	m.t.Helper()
	logged := map[uint64]string{}
	for line := range strings.Lines(string(m.run("watch", "--since", "e0", "--type", "tell", "--past"))) {
		var e struct {
			Type, Status string
			Message      *uint64
		}
		must(m.t, json.Unmarshal([]byte(line), &e))
		if e.Type == "tell" && e.Message != nil {
			logged[*e.Message] += e.Status + " "
		}
	}
	return logged
}

// deliveries are the events of a message's deliveries, as the evidence of a failure.
func (m *mails) deliveries(one mailed) string {
	out, _ := m.try(nil, "watch", one.Session, "--since", "e0", "--type", "nudge", "--past")
	return strings.Join(slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool {
		return !strings.Contains(line, fmt.Sprintf(`"queue_id":"m%d"`, one.Message))
	}), "\n")
}

// lines are those of a file that may not be there yet.
func (m *mails) lines(name string) []string {
	m.t.Helper()
	data, err := os.ReadFile(filepath.Join(m.dir, name))
	if !os.IsNotExist(err) {
		must(m.t, err)
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
}

// measure sends messages to idle agents, and logs how long they take.
func (m *mails) measure() {
	m.t.Helper()
	var delivered, taken []time.Duration
	for n := range m.quiet {
		name := reader(n % m.receivers)
		m.idle(name)
		sent := answer[struct{ Message uint64 }](m.host, "tell", name, fmt.Sprintf("'quiet %d'", n))
		var one mailed
		waitFor(m.t, "the message to be taken", func() bool {
			one = answer[mailed](m.host, "message", fmt.Sprint(sent.Message))
			return one.Status == "taken"
		})
		delivered = append(delivered, one.Way[1].At.Sub(one.Way[0].At))
		taken = append(taken, one.Way[2].At.Sub(one.Way[0].At))
	}
	slices.Sort(delivered)
	slices.Sort(taken)
	p := func(list []time.Duration, percent int) time.Duration { return list[(len(list)-1)*percent/100] }
	m.t.Logf("%d messages to idle agents: delivered p50 %v, p99 %v; taken p50 %v, p99 %v", m.quiet, p(delivered, 50), p(delivered, 99), p(taken, 50), p(taken, 99))
	if m.quiet >= 100 && p(delivered, 99) > 2*time.Second {
		m.t.Error("an idle agent has a message after more than 2 s")
	}
}

// TestMessagesWithoutAnAgent: a message for a session that never takes it expires in its time, also in a session
// that has ended and when the server was killed. One whose session is removed is refused at once.
func TestMessagesWithoutAnAgent(t *testing.T) {
	m := &mails{host: newHost(t, fast)}
	program := m.agent()
	m.config = m.file("berth.yaml", fmt.Sprintf("sessions:\n  - {name: asked, agent: claude, command: [%s], cwd: %s, env: {HOOK: %s, SAID: asked.said}}\n", program, m.dir, m.berth))
	m.file("asks", "")
	m.file("slow", "")
	m.start("--config", m.config)
	m.idle("asked")
	m.run("nudge", "asked", "clean")
	m.run("wait", "asked", "--until", "prompt", "--timeout", patience.String())
	for _, name := range []string{"plain", "ended", "renamed", "removed"} {
		m.create(name, "--", "cat")
	}
	sent := map[string]uint64{}
	for name, ttl := range map[string]string{"asked": "3s", "plain": "3s", "ended": "3s", "renamed": "3s", "removed": "5m"} {
		sent[name] = answer[struct{ Message uint64 }](m.host, "tell", name, "--ttl", ttl, "hello").Message
	}
	m.run("rename", "renamed", "other")
	m.run("kill", "ended")
	m.run("kill", "removed")
	m.run("wait", "ended", "removed", "--all", "--until", "exited", "--timeout", patience.String())
	m.run("rm", "removed")
	status := func(name string) mailed { return answer[mailed](m.host, "message", fmt.Sprint(sent[name])) }
	if one := status("removed"); one.path() != "accepted refused " {
		t.Errorf("the message for a session that was removed went %q", one.path())
	}
	m.kill()
	m.start("--config", m.config)
	for name := range sent {
		if name == "removed" {
			continue
		}
		waitFor(t, "the message for "+name+" to expire", func() bool { return status(name).Status != "accepted" })
		one := status(name)
		if one.path() != "accepted expired " {
			t.Errorf("the message for %s went %q", name, one.path())
			continue
		}
		if at := one.Way[1].At; at.Before(one.Expires) {
			t.Errorf("the message for %s expired at %v, before %v", name, at, one.Expires)
		}
	}
	if lines := m.lines("asked.said"); !slices.Equal(lines, []string{"clean"}) {
		t.Errorf("the agent at its prompt got %q", lines)
	}
	for number, path := range m.logged() {
		if path != "accepted expired " && number != sent["removed"] {
			t.Errorf("the events of message %d: %q", number, path)
		}
	}
}

// TestChildrenKilled: a child reports while the server is killed, and ends. Its parent's inbox has each of its reports
// and its end once, in the order of the child's events.
func TestChildrenKilled(t *testing.T) {
	m := &mails{host: newHost(t, fast)}
	program := m.file("run.sh", "stty -echo\nwhile read -r line; do eval \"$line\"; done\n")
	m.file("reports.sh", `n=0
while n=$((n+1)); [ $n -le 15 ]; do
	until "$EXE" report status "part $n" < /dev/null > /dev/null 2>&1; do sleep 0.05; done
	echo $n >> parts
done
exit 0
`)
	m.config = m.file("berth.yaml", fmt.Sprintf(`profiles:
  worker: {command: [sh, %[1]s], cwd: %[2]s, env: {EXE: %[3]s}}
sessions:
  - {name: lead, command: [sh, %[1]s], cwd: %[2]s, env: {EXE: %[3]s}, children: {profiles: [worker], max: 1}}
`, program, m.dir, m.berth))
	m.start("--config", m.config)
	m.run("input", "lead", "--enter", `'"$EXE" new lead-a --profile worker'`)
	waitFor(t, "the child", func() bool { _, status := m.try(nil, "state", "lead-a"); return status == 0 })
	m.run("input", "lead-a", "--enter", "'exec sh reports.sh'")
	for part := 3; part <= 15; part += 4 {
		waitFor(t, "a report", func() bool { return len(m.lines("parts")) >= part })
		m.kill()
		m.start("--config", m.config)
	}
	m.run("wait", "lead-a", "--until", "exited", "--timeout", patience.String())
	var want, got []string
	for line := range strings.Lines(string(m.run("watch", "lead-a", "--since", "e0", "--type", "report,exited", "--past"))) {
		var e struct{ Cursor, Type string }
		must(t, json.Unmarshal([]byte(line), &e))
		if e.Type == "report" || e.Type == "exited" {
			want = append(want, e.Cursor)
		}
	}
	waitFor(t, "a message for each event", func() bool {
		got = got[:0]
		for _, one := range m.inbox("lead") {
			got = append(got, one.Event)
		}
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) || len(want) < 16 {
		t.Errorf("the inbox has the events %q, and the child's are %q", got, want)
	}
}
