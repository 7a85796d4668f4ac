package commands

import (
	"slices"
	"strings"
	"testing"

	"berth/agent"
	"berth/api"
	"berth/terminal"
)

// TestTopics: each topic has a page, and no verb has its name.
func TestTopics(t *testing.T) {
	d := newDesk(t)
	list := d.call(viewer, "help", terminalOut).out
	for _, topic := range topics() {
		page := d.call(viewer, "help "+topic.name, terminalOut)
		if page.status != 0 || !strings.Contains(page.out, topic.short) || Lookup(topic.name) != nil {
			t.Errorf("help %s: %+v", topic.name, page)
		}
		if !strings.Contains(list, topic.name) {
			t.Errorf("help doesn't list the topic %s", topic.name)
		}
		for line := range strings.Lines(page.out) {
			if len(strings.TrimSpace(line)) > 80 {
				t.Errorf("help %s: %d columns: %s", topic.name, len(line), line)
			}
		}
	}
	for _, s := range agent.States {
		if stateMeans[s] == "" {
			t.Errorf("help states doesn't say what %s means", s)
		}
	}
	for _, c := range api.Codes() {
		if !slices.Contains(strings.Fields(exitTopic()), string(c)) {
			t.Errorf("help exit-codes lacks %s", c)
		}
	}
	names, _, _ := strings.Cut(keysTopic, ", or one")
	for _, key := range strings.Fields(names) {
		if _, err := terminal.EncodeKey(key, terminal.Modes{}); err != nil {
			t.Errorf("help key-names has %s: %v", key, err)
		}
	}
}

// TestDidYouMean: a misspelled verb, session, profile or option is answered with the right one, and a
// session that the caller may not see is never named.
func TestDidYouMean(t *testing.T) {
	d := newDesk(t)
	for _, name := range []string{"web-api", "secrets"} {
		if a := d.call(admin, "new "+name+" -- sleep 600"); a.status != 0 {
			t.Fatal(a)
		}
	}
	for line, hint := range map[string]string{
		"stat alpha": `did you mean state?`, "help stat": `did you mean state or states?`,
		"states": `unknown verb "states": help states is about that; `, "schema quoting": `help quoting is about that; `,
		"nugde x y": `did you mean nudge?`, "hlep": `did you mean help?`, "help quotin": `did you mean quoting?`,
		"state web-ap": `did you mean web-api?`, "state wbe-api": `did you mean web-api?`, "wait web-api --untl idle": `did you mean --until?`, "new x --profile wbe": `did you mean web?`,
		"xyzzy": "unknown verb \"xyzzy\": help lists the verbs",
	} {
		if a := d.call(admin, line, terminalOut); !strings.Contains(a.err, hint) {
			t.Errorf("%s: %q lacks %q", line, a.err, hint)
		}
	}
	if a := d.call(narrow, "state secret", terminalOut); a.status == 0 || strings.Contains(a.err, "secrets") {
		t.Errorf("a session that may not be seen is named: %+v", a)
	}
}
