package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"berth/agent"
)

// decision is the answer of a PermissionRequest hook.
type decision struct {
	Behavior    string          `json:"behavior"`
	Input       json.RawMessage `json:"updatedInput,omitempty"`
	Permissions json.RawMessage `json:"updatedPermissions,omitempty"`
	Message     string          `json:"message,omitempty"`
	Interrupt   bool            `json:"interrupt,omitempty"`
}

func verdict(d decision, outcome string) (agent.Verdict, error) {
	var out struct {
		Specific struct {
			Event    string   `json:"hookEventName"`
			Decision decision `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	out.Specific.Event, out.Specific.Decision = "PermissionRequest", d
	stdout, err := json.Marshal(out)
	if err != nil {
		return agent.Verdict{}, fmt.Errorf("encode the answer: %w", err)
	}
	return agent.Verdict{Stdout: stdout, Outcome: outcome}, nil
}

// refused is Claude's message to the model for a denial without a reason.
const refused = "The user does not want to proceed with this. Stop what you are doing and wait for the user to tell you how to go on."

// HidesDialog: newer versions draw no dialog for a subagent's prompt while its PermissionRequest
// hook waits. If there is a dialog anyway, the dialog or the hook answers it, whichever is first. A server's form
// comes to the screen when its Elicitation hook has ended.
func (Driver) HidesDialog(p *agent.Request) bool {
	return (p.Type == agent.PromptForm || p.Type == agent.PromptPermission && p.Agent != nil) && !p.OnScreen
}

// Verdict is the answer for a waiting PermissionRequest hook. A denial without a reason ends the
// turn, as No does at the dialog; after one with a reason the model continues.
func (Driver) Verdict(p *agent.Request, a agent.Answer, payload []byte) (agent.Verdict, error) {
	if err := onlyForms(p, a); err != nil {
		return agent.Verdict{}, err
	}
	var e struct {
		Input       json.RawMessage   `json:"tool_input"`
		Suggestions []json.RawMessage `json:"permission_suggestions"`
	}
	if err := json.Unmarshal(payload, &e); err != nil {
		return agent.Verdict{}, fmt.Errorf("read the event of the hook that waits: %w", err)
	}
	if p.Type == agent.PromptForm {
		return formVerdict(p, a)
	}
	if a.Kind == agent.Deny {
		return deny(a.Text)
	}
	switch p.Type {
	case agent.PromptQuestion:
		return questionVerdict(p, a, e.Input)
	case agent.PromptPlan:
		return planVerdict(p, a, e.Input)
	case agent.PromptPermission:
		return permissionVerdict(p, a, e.Suggestions)
	}
	return agent.Verdict{}, agent.ErrOnlyByKeys
}

func deny(reason string) (agent.Verdict, error) {
	if reason == "" {
		return verdict(decision{Behavior: "deny", Message: refused, Interrupt: true}, agent.OutcomeDenied)
	}
	return verdict(decision{Behavior: "deny", Message: reason}, agent.OutcomeDenied)
}

func allow() (agent.Verdict, error) {
	return verdict(decision{Behavior: "allow"}, agent.OutcomeAccepted)
}

// option is the label of the chosen option, once the dialog has shown the options.
func option(p *agent.Request, n int) (string, error) {
	if p.OptionsFallback || len(p.Options) == 0 {
		return "", agent.ErrNotReady
	}
	if n < 1 || n > len(p.Options) {
		return "", fmt.Errorf("%w: it has the options 1 to %d", agent.ErrAnswer, len(p.Options))
	}
	return p.Options[n-1], nil
}

func permissionVerdict(p *agent.Request, a agent.Answer, suggestions []json.RawMessage) (agent.Verdict, error) {
	switch a.Kind {
	case agent.Accept:
		return allow()
	case agent.ChooseOption:
	default:
		return agent.Verdict{}, fmt.Errorf("%w: a permission takes accept, deny [TEXT] or option N", agent.ErrAnswer)
	}
	label, err := option(p, a.Option)
	switch {
	case err != nil:
		return agent.Verdict{}, err
	case label == "Yes":
		return allow()
	case a.Option == len(p.Options) && strings.HasPrefix(label, "No"):
		return deny("")
	case a.Option > 1 && strings.HasPrefix(label, "Yes") && lasting(p.Options) == 1 && namesAll(label, suggestions):
		all, err := json.Marshal(suggestions)
		if err != nil {
			return agent.Verdict{}, fmt.Errorf("encode the permissions: %w", err)
		}
		return verdict(decision{Behavior: "allow", Permissions: all}, agent.OutcomeAccepted)
	}
	return agent.Verdict{}, agent.ErrOnlyByKeys
}

// lasting is how many options allow more than this call. The first option never does: while a
// person types other instructions, they are its label. With several it isn't known which suggestion
// each one belongs to.
func lasting(options []string) (n int) {
	for _, label := range options[1:] {
		if strings.HasPrefix(label, "Yes") {
			n++
		}
	}
	return n
}

// suggestion is a permission that an answer may grant for longer than this call.
type suggestion struct {
	Type, Mode  string
	Directories []string
	Rules       []rule
}

type rule struct{ ToolName, RuleContent string }

// namesAll reports whether the label names all that the suggestions allow. The rest wasn't shown: a
// directory is suggested together with the mode that accepts edits, and the label names only the
// directory. The label is read from the screen, and the dialog may belong to another call that
// looks alike. One name in it stands for one directory.
func namesAll(label string, suggestions []json.RawMessage) bool {
	label = flat(label)
	called := map[string]string{} // by the last part of its path, the folder's name
	folder := func(of string) bool {
		of = path.Clean(of)
		base := path.Base(of)
		if mentions(label, of) || mentions(label, of+"/") {
			return true
		}
		other, known := called[base]
		called[base] = of
		return mentions(label, base+"/") && (!known || other == of)
	}
	return len(suggestions) > 0 && !slices.ContainsFunc(suggestions, func(raw json.RawMessage) bool {
		var s suggestion
		return json.Unmarshal(raw, &s) != nil || !s.named(label, folder)
	})
}

func (s *suggestion) named(label string, folder func(string) bool) bool {
	switch s.Type {
	case "setMode": // 2.1.197: "allow all edits"; 2.1.330: "switch to accept edits"
		return s.Mode == "acceptEdits" && (strings.Contains(label, "all edits") || strings.Contains(label, "accept edits"))
	case "addDirectories":
		return len(s.Directories) > 0 && !slices.ContainsFunc(s.Directories, func(of string) bool { return !folder(of) })
	case "addRules":
		return len(s.Rules) > 0 && !slices.ContainsFunc(s.Rules, func(r rule) bool { return !r.named(label, folder) })
	}
	return false
}

func (r rule) named(label string, folder func(string) bool) bool {
	server, tool, isMCP := strings.Cut(strings.TrimPrefix(r.ToolName, "mcp__"), "__")
	of, isFolder := strings.CutSuffix(r.RuleContent, "/**")
	switch {
	case isMCP && strings.HasPrefix(r.ToolName, "mcp__"):
		return mentions(label, server+" - "+tool)
	case isFolder:
		return folder(of)
	}
	return mentions(label, strings.TrimSuffix(strings.TrimPrefix(r.RuleContent, "domain:"), ":*"))
}

// The text around a subject in a label.
var (
	beforeNamed = []string{" to ", " for ", " for: ", " from ", " in ", " and ", ", "}
	afterNamed  = []string{",", ":*", " *", " and ", " commands ", " in ", " from ", " during "}
	// After "for: " is a rule, which a person can edit at the dialog to allow less.
	afterRule = []string{",", ":*", " *", " and "}
)

// mentions reports whether the label names the subject, and not only something that contains its
// text.
func mentions(label, thing string) bool {
	thing = flat(thing)
	for from := 0; thing != ""; {
		at := strings.Index(label[from:], thing)
		if at < 0 {
			return false
		}
		at += from
		before, after := label[:at], label[at+len(thing):]
		begins := slices.ContainsFunc(beforeNamed, func(s string) bool { return strings.HasSuffix(before, s) })
		ends := afterNamed
		if strings.Contains(before, " for: ") {
			ends = afterRule
		}
		if begins && (after == "" || slices.ContainsFunc(ends, func(s string) bool { return strings.HasPrefix(after, s) })) {
			return true
		}
		from = at + 1
	}
	return false
}

// manual leaves plan mode for the mode that asks for every edit.
var manual = json.RawMessage(`[{"type":"setMode","mode":"default","destination":"session"}]`)

// planVerdict answers a plan. The options' meanings depend on the available modes, and a hook can't
// give all of them. Newer versions ignore a yes without the tool's input.
func planVerdict(p *agent.Request, a agent.Answer, input json.RawMessage) (agent.Verdict, error) {
	input, unread := asShown(input)
	if unread != nil && (a.Kind == agent.Accept || a.Kind == agent.ChooseOption) {
		return agent.Verdict{}, unread
	}
	switch a.Kind {
	case agent.Accept: // without a mode Claude goes back to the one before the plan, which may allow all edits
		return verdict(decision{Behavior: "allow", Input: input, Permissions: manual}, agent.OutcomeAccepted)
	case agent.AnswerText:
		return deny(a.Text)
	case agent.ChooseOption:
	default:
		return agent.Verdict{}, fmt.Errorf("%w: a plan takes accept, deny [TEXT], option N or text TEXT", agent.ErrAnswer)
	}
	label, err := option(p, a.Option)
	switch {
	case err != nil:
		return agent.Verdict{}, err
	case strings.HasPrefix(label, "Yes, manually approve"):
		return verdict(decision{Behavior: "allow", Input: input, Permissions: manual}, agent.OutcomeAccepted)
	case strings.HasPrefix(label, "Tell Claude"):
		return agent.Verdict{}, fmt.Errorf("%w: say what to change with deny TEXT", agent.ErrAnswer)
	}
	return agent.Verdict{}, agent.ErrOnlyByKeys
}

// asShown is the input of a plan's call with a line's end after the plan. Newer versions read the plan's file unless the
// answer has another plan than was reported, and any process of the session can have changed that file since the plan was shown, or
// made it. They tell the model that the plan was edited by the user.
func asShown(input json.RawMessage) (json.RawMessage, error) {
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	in, err := agent.ReadInput(input)
	plan, isText := in.Text("plan")
	if err = errors.Join(err, isText); err != nil {
		return nil, fmt.Errorf("%w: the plan's call can't be read; use deny, or answer at the terminal: %w", agent.ErrCannot, err)
	}
	in["plan"] = agent.Encoded(agent.Value(plan) + "\n")
	return agent.Encoded(in), nil
}

// questionVerdict answers the questions by the labels of their options. Of the tool's own input it returns the questions alone: the model
// can also send notes, which Claude doesn't draw and reports as the user's.
func questionVerdict(p *agent.Request, a agent.Answer, input json.RawMessage) (agent.Verdict, error) {
	if a.Kind == agent.ChooseOption && p.Reviewing() {
		return agent.Verdict{}, agent.ErrOnlyByKeys // only the dialog knows what was chosen there
	}
	answers, err := answersOf(p, a)
	if err != nil {
		return agent.Verdict{}, err
	}
	fields, err := agent.ReadInput(input)
	if err != nil {
		return agent.Verdict{}, fmt.Errorf("read the questions: %w", err)
	}
	updated := agent.Encoded(map[string]any{"questions": fields["questions"], "answers": answers})
	return verdict(decision{Behavior: "allow", Input: updated}, agent.OutcomeAnswered)
}

// picks are the answers, one for each question.
func picks(p *agent.Request, a agent.Answer) ([]agent.QuestionPick, error) {
	each := a.Each
	switch a.Kind {
	case agent.ChooseOption:
		each = []agent.QuestionPick{{Options: []int{a.Option}}}
	case agent.AnswerText:
		each = []agent.QuestionPick{{Text: a.Text}}
	case agent.AnswerEach:
	default:
		return nil, fmt.Errorf("%w: a question takes option N, text TEXT, answer Q=N or deny", agent.ErrAnswer)
	}
	if len(p.Questions) == 0 {
		return nil, agent.ErrNotReady
	}
	if a.Kind != agent.AnswerEach && len(p.Questions) > 1 {
		return nil, fmt.Errorf("%w: it asks %d questions; answer each: answer 1=N 2=N", agent.ErrAnswer, len(p.Questions))
	}
	if len(each) != len(p.Questions) {
		return nil, fmt.Errorf("%w: it asks %d questions and %d are answered", agent.ErrAnswer, len(p.Questions), len(each))
	}
	for i, pick := range each {
		if p.Questions[i].Text == "" {
			return nil, fmt.Errorf("%w: question %d (%s) wasn't shown yet, and the session log doesn't have it; use keys or attach", agent.ErrNotReady, i+1, p.Questions[i].Header)
		}
		if err := checkPick(i+1, p.Questions[i], pick); err != nil {
			return nil, err
		}
	}
	return each, nil
}

func checkPick(n int, q agent.Question, pick agent.QuestionPick) error {
	switch {
	case pick.Text == "" && len(pick.Options) == 0:
		return fmt.Errorf("%w: question %d (%s) is not answered", agent.ErrAnswer, n, q.Header)
	case len(pick.Options) > 1 && !q.MultiSelect:
		return fmt.Errorf("%w: question %d (%s) takes one option", agent.ErrAnswer, n, q.Header)
	case len(pick.Options) > 0 && pick.Text != "" && !q.MultiSelect:
		return fmt.Errorf("%w: question %d (%s) takes an option or a text", agent.ErrAnswer, n, q.Header)
	}
	seen := map[int]bool{}
	for _, o := range pick.Options {
		switch {
		case o == len(q.Options)+1 && !q.Previews:
			return fmt.Errorf("%w: for words of your own use text TEXT, or of several questions answer %d=WORDS", agent.ErrAnswer, n)
		case o < 1 || o > len(q.Options):
			return fmt.Errorf("%w: question %d (%s) has the options 1 to %d", agent.ErrAnswer, n, q.Header, len(q.Options))
		case seen[o]:
			return fmt.Errorf("%w: question %d (%s) is given option %d twice", agent.ErrAnswer, n, q.Header, o)
		}
		seen[o] = true
	}
	return nil
}

// answersOf are the answers in Claude's form: by the question's text, the options' labels joined
// with commas.
func answersOf(p *agent.Request, a agent.Answer) (map[string]string, error) {
	if chats(p, a) {
		return nil, agent.ErrOnlyByKeys
	}
	each, err := picks(p, a)
	if err != nil {
		return nil, err
	}
	answers := map[string]string{}
	for i, pick := range each {
		q := p.Questions[i]
		if q.Text == "" {
			return nil, agent.ErrNotReady
		}
		if _, twice := answers[q.Text]; twice || repeated(q, pick) {
			return nil, agent.ErrOnlyByKeys // the text or the label would name two of them
		}
		answers[q.Text] = spoken(q, pick)
	}
	return answers, nil
}

// repeated reports whether another option has the label of a chosen one.
func repeated(q agent.Question, pick agent.QuestionPick) bool {
	return slices.ContainsFunc(pick.Options, func(n int) bool {
		label := q.Options[n-1]
		return slices.Contains(q.Options[:n-1], label) || slices.Contains(q.Options[n:], label)
	})
}
