package commands

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/sessions"
)

// topic is a page of help that isn't about one verb.
type topic struct {
	name, short string
	text        func() string
}

// Topic is the answer of help for a topic.
type Topic struct {
	Name  string `json:"name"`
	Short string `json:"short"`
	Text  string `json:"text"`
}

// topics are in the order of the list that help shows. A verb of the same name wins.
func topics() []topic {
	return []topic{
		{"targets", "how to name sessions", func() string { return targetsTopic }},
		{"selectors", "how to choose sessions, events, and parts of an answer", func() string { return selectorsTopic }},
		{"states", "what a session can be doing", statesTopic},
		{"events", "the types of events of watch", func() string {
			return "watch --type T,.. shows only these types:\n\n" + wrapped(sessions.EventTypes) + "\nsnapshot, live, heartbeat and end are about the stream itself.\ngap says that events were lost.\n"
		}},
		{"quoting", "quotes, blanks and dashes in a line", func() string { return quotingTopic }},
		{"key-names", "the names of keys, for keys", func() string { return keysTopic }},
		{"signals", "the names of signals, for signal", func() string {
			return wrapped(slices.Sorted(maps.Keys(signals))) + "\nWith or without SIG in front, in any case.\nkeys S Ctrl-c presses the key instead.\n"
		}},
		{"exit-codes", "exit statuses, and the codes of failures", exitTopic},
	}
}

func findTopic(name string) (topic, bool) {
	all := topics()
	at := slices.IndexFunc(all, func(t topic) bool { return t.name == name })
	if at < 0 {
		return topic{}, false
	}
	return all[at], true
}

// wrapped is a list of names in lines of at most 78 columns.
func wrapped(names []string) string {
	var b strings.Builder
	used := 0
	for _, name := range names {
		if used+2+len(name) > 78 {
			b.WriteString("\n")
			used = 0
		}
		b.WriteString("  " + name)
		used += 2 + len(name)
	}
	return b.String() + "\n"
}

// stateMeans says what each state means to a person.
var stateMeans = map[agent.State]string{
	agent.Starting:   "the program has started and isn't ready for input",
	agent.Working:    "it works on a turn; a shell runs a command",
	agent.Idle:       "it waits for a message",
	agent.Prompt:     "it asks something: prompt S shows it, respond S answers",
	agent.InError:    "its turn ended with an error, such as a limit",
	agent.Parked:     "a limit or an overload stopped it, and ends by itself at resume_at",
	agent.Restarting: "it ended and is started again after a pause",
	agent.Exited:     "its program has ended; the screen and the output are kept",
	agent.Unknown:    "the sources don't show which of these it is: explain S",
}

func statesTopic() string {
	var b strings.Builder
	for _, s := range agent.States {
		fmt.Fprintf(&b, "  %-11s %s\n", s, stateMeans[s])
	}
	return b.String() + "\nwait S --until STATE,.. and watch S --until STATE wait for one.\nexplain S says why.\n"
}

const targetsTopic = `  NAME      a session by its name
  ID        by its id, which a new name doesn't change; or by the id of its
            agent's conversation, where no session has that name
  tag:T     all with the tag T
  all       all that you may see

Where several may be named, --all is all, and --label T is tag:T.

Several may follow each other: state alpha tag:web. A verb that takes one
session says S in its usage, and one that takes several says TARGET. A session
that you may not see doesn't exist for you.
`

const selectorsTopic = `Which sessions (see help targets), and their states:

  ls tag:web --state prompt,error,parked
  watch --state prompt
  wait all --until idle

Which part of an answer. Every verb that answers with JSON has these:

  -q                       only the sessions' names, one a line
  --json=session,state     JSON with only these fields
  --format TEMPLATE        a line for each item: {{.session}} and the other
                           names of the JSON; json, join, upper and lower help
  --jq EXPRESSION          what this jq expression makes of the JSON; texts
                           are printed without quotes

An expression with a blank needs two pairs of quotes, see help quoting:

  ssh agents@host ls --format "'{{.session}} is {{.state}}'"
  ssh agents@host ls --jq "'.[] | select(.tags | index(\"web\")) | .session'"
  ssh agents@host kill $(ssh agents@host ls --state idle -q)

It runs for at most 2 s for each answer. It has no files, no environment and no
other input. When the verb fails, the reason is on the error stream alone.
schema VERB lists the fields.
`

const quotingTopic = `Your own shell takes quotes away before ssh sends the line, and ssh joins the
words with blanks. A text at the end of a line needs one pair of quotes:

  ssh agents@host nudge alpha "fix the test"

A value in the middle of a line that has a blank needs two:

  ssh agents@host new api --prompt "'fix the test'"

Put options before the text, and -- before a text that begins with a dash.
- as the text reads standard input, which needs no quotes at all:

  git diff | ssh agents@host nudge alpha -
`

const keysTopic = `  Enter Escape Tab BTab Backspace Space Up Down Left Right Home End PageUp
  PageDown Insert Delete F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12, or one character

Ctrl-, Alt-, Shift- and Super- may stand before a name: Ctrl-c, Alt-Enter,
Ctrl-Shift-Left. Names are known in any case, and characters as they are.
`

func exitTopic() string {
	by := map[int][]string{}
	for _, c := range api.Codes() {
		by[c.Status()] = append(by[c.Status()], string(c))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %3d  it is done\n", api.StatusDone)
	for _, status := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(&b, "  %3d  %s\n", status, strings.Join(by[status], " "))
	}
	fmt.Fprintf(&b, "  %3d  wait and --wait: the session asks something\n", api.StatusPrompt)
	fmt.Fprintf(&b, "  %3d  wait and --wait: its turn ended with an error\n", api.StatusError)
	fmt.Fprintf(&b, "  %3d  wait and --wait: its program has ended\n", api.StatusExited)
	return b.String() + "\nThe codes are in the field error.code of a JSON answer.\nssh itself ends with 255.\n"
}
