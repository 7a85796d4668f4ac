package claude

import (
	"errors"
	"strings"
	"testing"

	"berth/agent"
)

func TestVerdict(t *testing.T) {
	bash := &agent.Request{Type: agent.PromptPermission, Options: []string{"Yes", "Yes, allow all edits during this session (shift+tab)", "No"}}
	typing := &agent.Request{Type: agent.PromptPermission, Options: []string{"Yes, and tell Claude what to do next", "Yes, allow all edits during this session (shift+tab)", "No"}}
	two := &agent.Request{Type: agent.PromptPermission, Options: []string{"Yes", "Yes, and always", "Yes, all", "No"}}
	unread := &agent.Request{Type: agent.PromptPermission, Options: []string{"Yes", "No"}, OptionsFallback: true}
	plan := &agent.Request{Type: agent.PromptPlan, Options: []string{"Yes, and use auto mode", "Yes, manually approve edits", "Tell Claude what to change"}}
	one := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "Which?", Options: []string{"A", "B"}, MultiSelect: true}}}
	const payload = `{"tool_input":{"questions":[{"question":"Which?"}]},"permission_suggestions":[{"type":"setMode","mode":"acceptEdits"}]}`
	for name, c := range map[string]struct {
		prompt *agent.Request
		answer agent.Answer
		want   string
		err    error
	}{
		"accept":             {bash, agent.Answer{Kind: agent.Accept}, `{"behavior":"allow"}`, nil},
		"deny":               {bash, agent.Answer{Kind: agent.Deny}, `"interrupt":true`, nil},
		"deny why":           {bash, agent.Answer{Kind: agent.Deny, Text: "no \"x\""}, `{"behavior":"deny","message":"no \"x\""}`, nil},
		"always":             {bash, agent.Answer{Kind: agent.ChooseOption, Option: 2}, `{"behavior":"allow","updatedPermissions":[{"type":"setMode","mode":"acceptEdits"}]}`, nil},
		"no":                 {bash, agent.Answer{Kind: agent.ChooseOption, Option: 3}, `"interrupt":true`, nil},
		"its input is open":  {typing, agent.Answer{Kind: agent.ChooseOption, Option: 1}, "", agent.ErrOnlyByKeys},
		"always, beside it":  {typing, agent.Answer{Kind: agent.ChooseOption, Option: 2}, `"updatedPermissions":[{"type":"setMode","mode":"acceptEdits"}]`, nil},
		"which always it is": {two, agent.Answer{Kind: agent.ChooseOption, Option: 3}, "", agent.ErrOnlyByKeys},
		"beyond":             {bash, agent.Answer{Kind: agent.ChooseOption, Option: 4}, "", agent.ErrAnswer},
		"not read yet":       {unread, agent.Answer{Kind: agent.ChooseOption, Option: 2}, "", agent.ErrNotReady},
		"text":               {bash, agent.Answer{Kind: agent.AnswerText, Text: "x"}, "", agent.ErrAnswer},
		"plan by mode":       {plan, agent.Answer{Kind: agent.ChooseOption, Option: 1}, "", agent.ErrOnlyByKeys},
		"plan":               {plan, agent.Answer{Kind: agent.Accept}, `{"behavior":"allow","updatedInput":{"plan":"\n","questions":[{"question":"Which?"}]},"updatedPermissions":[{"type":"setMode","mode":"default","destination":"session"}]}`, nil},
		"plan manually":      {plan, agent.Answer{Kind: agent.ChooseOption, Option: 2}, `"updatedPermissions":[{"type":"setMode","mode":"default"`, nil},
		"two ticked":         {one, agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: []int{2, 1}}}}, `"answers":{"Which?":"B, A"}`, nil},
		"own words":          {one, agent.Answer{Kind: agent.AnswerText, Text: "C"}, `"answers":{"Which?":"C"}`, nil},
		"unanswered":         {one, agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{{}}}, "", agent.ErrAnswer},
	} {
		v, err := Driver{}.Verdict(c.prompt, c.answer, []byte(payload))
		if !errors.Is(err, c.err) || !strings.Contains(string(v.Stdout), c.want) {
			t.Errorf("%s: %s, %v; want %s, %v", name, v.Stdout, err, c.want, c.err)
		}
	}
}

// TestOnlyWhatWasShown: an answer has the plan that was shown, whatever its file has by now, and no notes that the model adds to questions.
func TestOnlyWhatWasShown(t *testing.T) {
	plan := &agent.Request{Type: agent.PromptPlan, Options: []string{"Yes, manually approve edits"}}
	one := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "Which?", Options: []string{"A", "B"}}}}
	v, err := Driver{}.Verdict(plan, agent.Answer{Kind: agent.Accept}, []byte(`{"tool_input":{"plan":"# A b","planFilePath":"/p.md"}}`))
	if want := `"updatedInput":{"plan":"# A b\n","planFilePath":"/p.md"}`; err != nil || !strings.Contains(string(v.Stdout), want) {
		t.Errorf("%s, %v; want %s", v.Stdout, err, want)
	}
	for _, input := range []string{`{"PLAN":"x","plan":"# A"}`, `{"plan":1}`, `{"plan":"# A","plan":"# B"}`} {
		if v, err := (Driver{}).Verdict(plan, agent.Answer{Kind: agent.Accept}, []byte(`{"tool_input":`+input+`}`)); !errors.Is(err, agent.ErrCannot) {
			t.Errorf("%s: %s, %v", input, v.Stdout, err)
		}
	}
	v, err = Driver{}.Verdict(one, agent.Answer{Kind: agent.ChooseOption, Option: 1}, []byte(`{"tool_input":{"questions":[{"question":"Which?"}],"annotations":{"Which?":{"notes":"yes"}}}}`))
	if err != nil || strings.Contains(string(v.Stdout), "annotations") || !strings.Contains(string(v.Stdout), `"answers":{"Which?":"A"}`) {
		t.Errorf("%s, %v", v.Stdout, err)
	}
}

// TestLastingAnswers: an answer grants only what its label names beyond this call. The label
// may have been read off another call's dialog, and the agent suggests more than a label says.
func TestLastingAnswers(t *testing.T) {
	const (
		reads   = `{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//srv/secret/**"}],"behavior":"allow","destination":"session"}`
		fetches = `{"type":"addRules","rules":[{"toolName":"WebFetch","ruleContent":"domain:example.com"}],"behavior":"allow","destination":"localSettings"}`
		asks    = `{"type":"addRules","rules":[{"toolName":"mcp__elic__askme"}],"behavior":"allow","destination":"localSettings"}`
		runs    = `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch:*"}],"behavior":"allow","destination":"localSettings"}`
		short   = `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"n:*"}],"behavior":"allow","destination":"localSettings"}`
		two     = `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch:*"},{"toolName":"Bash","ruleContent":"curl:*"}],"behavior":"allow","destination":"localSettings"}`
		adds    = `{"type":"addDirectories","directories":["/srv/ws"],"destination":"session"}`
		both    = `{"type":"addDirectories","directories":["/srv/ws","/etc"],"destination":"session"}`
		accepts = `{"type":"setMode","mode":"acceptEdits","destination":"session"}`
		bypass  = `{"type":"setMode","mode":"bypassPermissions","destination":"session"}`
		edits   = "Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab)"
	)
	for _, c := range []struct {
		label, suggestions string
		same               bool
	}{
		{"Yes, allow reading from secret/ during this session", reads, true},
		{"Yes, allow reading from docs/ during this session", reads, false},
		{"Yes, and don't ask again for example.com", fetches, true},
		{"Yes, and don't ask again for evil.com", fetches, false},
		{"Yes, and don't ask again for not-example.com", fetches, false},
		{"Yes, and don't ask again for elic - askme commands in /srv/ws", asks, true},
		{"Yes, and don't ask again for elic - list commands in /srv/ws", asks, false},
		{"Yes, and don't ask again for: touch:*", runs, true},
		{"Yes, and don’t ask again for: touch *", runs, true},
		{"Yes, and don’t ask again for: touch notes.txt *", runs, false},
		{"Yes, and don’t ask again for: touch in notes *", runs, false},
		{"Yes, and don't ask again for touch notes.txt commands in /srv/ws", runs, false},
		{"Yes, and don't ask again for touch commands in /srv/ws", runs, true},
		{"Yes, and don't ask again for: touch:*", two, false},
		{"Yes, and don't ask again for: touch:*", runs + "," + fetches, false},
		{"Yes, and don't ask again for touch and curl commands in /srv/ws", two, true},
		{"Yes, and don't ask again for npm test commands in /srv/n", short, false},
		{"Yes, and don't ask again for", short, false},
		{"Yes, and always allow access to ws/ from this project", adds, true},
		{"Yes, and always allow access to ws/ from this project", adds + "," + accepts, false},
		{"Yes, and always allow access to ws/ from this project", runs + "," + adds, false},
		{"Yes, and always allow access to /srv/ws from this project", adds, true},
		{"Yes, and always allow access to /home/ws/ from this project", adds, false},
		{"Yes, and always allow access to ws/ from this project", both, false},
		{"Yes, and always allow access to ws/ from this project", `{"type":"addDirectories","directories":["/srv/ws","/etc/ws"],"destination":"session"}`, false},
		{"Yes, and always allow access to ws/ from this project", adds + `,{"type":"addDirectories","directories":["/etc/ws"],"destination":"session"}`, false},
		{"Yes, and always allow access to ws/ from this project", adds + `,{"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//srv/ws/**"}],"destination":"session"}`, true},
		{"Yes, and always allow access to etc/ and ws/ from this project", both, true},
		{"Yes, and always allow access to docs/ from this project", adds, false},
		{"Yes, allow all edits during this session (shift+tab)", accepts, true},
		{"Yes, allow all edits during this session (shift+tab)", adds + "," + accepts, false},
		{"Yes, allow all edits in ws/ during this session (shift+tab)", adds + "," + accepts, true},
		{edits, accepts, true},
		{edits, bypass, false},
		{edits, reads, false},
		{"Yes, and always", `{"type":"addMore"},7`, false},
	} {
		p := &agent.Request{Type: agent.PromptPermission, Options: []string{"Yes", c.label, "No"}}
		v, err := Driver{}.Verdict(p, agent.Answer{Kind: agent.ChooseOption, Option: 2}, []byte(`{"permission_suggestions":[`+c.suggestions+`]}`))
		if !c.same && (!errors.Is(err, agent.ErrOnlyByKeys) || v.Stdout != nil) || c.same && (err != nil || !strings.Contains(string(v.Stdout), `"updatedPermissions":[`+c.suggestions+"]")) {
			t.Errorf("%s: %s, %v", c.label, v.Stdout, err)
		}
	}
}

// TestQuestionsThatLookAlike: Claude takes an answer by the question's text and the option's label. A hook
// gives none where two questions or two options have the same.
func TestQuestionsThatLookAlike(t *testing.T) {
	one := agent.Question{Text: "Go on?", Options: []string{"Yes", "No"}}
	labels := agent.Question{Text: "Where?", Options: []string{"Here", "There", "Here"}, Descriptions: []string{"in /tmp", "", "in /"}}
	for name, c := range map[string]struct {
		questions []agent.Question
		chosen    []int
		given     bool
	}{
		"two questions":          {[]agent.Question{one, one}, []int{2, 1}, false},
		"a label that two have":  {[]agent.Question{labels}, []int{1}, false},
		"a label that one has":   {[]agent.Question{labels}, []int{2}, true},
		"questions of their own": {[]agent.Question{one, labels}, []int{1, 2}, true},
	} {
		p, a := &agent.Request{Type: agent.PromptQuestion, Questions: c.questions}, agent.Answer{Kind: agent.AnswerEach}
		for _, n := range c.chosen {
			a.Each = append(a.Each, agent.QuestionPick{Options: []int{n}})
		}
		v, err := Driver{}.Verdict(p, a, []byte(`{"tool_input":{"questions":[]}}`))
		if given := err == nil; given != c.given || !given && !errors.Is(err, agent.ErrOnlyByKeys) {
			t.Errorf("%s: answered with %s, %v", name, v.Stdout, err)
		}
	}
}
