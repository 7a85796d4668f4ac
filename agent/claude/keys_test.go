package claude_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"berth/agent"
	"berth/agent/claude"
)

// screens are those of testdata/screens.txtar, by name.
var screens = sync.OnceValues(func() (map[string]string, error) {
	data, err := os.ReadFile("testdata/screens.txtar")
	if err != nil {
		return nil, err
	}
	all, name := map[string]string{}, ""
	for line := range strings.Lines(string(data)) {
		if head, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(head, " --\n") {
			name = strings.TrimSuffix(head, " --\n")
			continue
		}
		all[name] += line
	}
	return all, nil
})

// screen reads a screen of the real program, of 120 columns.
func screen(t *testing.T, name string) *agent.Reading {
	t.Helper()
	all, err := screens()
	if err != nil {
		t.Fatal(err)
	}
	if all[name] == "" {
		t.Fatalf("there is no screen %q", name)
	}
	return draw(120, 40, strings.TrimSuffix(all[name], "\n"))
}

func questionsOf(kinds ...string) []agent.Question {
	known := map[string]agent.Question{
		"color":    {Header: "Color", Text: "Which color do you want?", Options: []string{"Red", "Green", "Blue"}},
		"size":     {Header: "Size", Text: "Which size do you want?", Options: []string{"Small", "Large"}},
		"features": {Header: "Features", Text: "Which features do you want?", Options: []string{"Logging", "Metrics", "Tracing"}, MultiSelect: true},
		"layout":   {Header: "Layout", Text: "Which layout do you want?", Options: []string{"Sidebar", "Topbar"}, Previews: true},
	}
	var all []agent.Question
	for _, k := range kinds {
		all = append(all, known[k])
	}
	return all
}

const formSchema = `{"type":"object","properties":{
	"count":{"type":"integer","minimum":1,"maximum":10},"name":{"type":"string"},"size":{"type":"string","enum":["small","medium","large"]},
	"sure":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string","enum":["red","green","blue"]}}},"required":["name"]}`

// decoded is a JSON object as an answer carries it.
func decoded(text string) map[string]any {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		panic(err) // a slip in a table
	}
	return fields
}

// Prompts of the screens.
var (
	three   = &agent.Request{Type: agent.PromptQuestion, Questions: questionsOf("color", "size", "features"), Options: []string{"Red", "Green", "Blue", "Type something.", "Chat about this"}}
	layout  = &agent.Request{Type: agent.PromptQuestion, Questions: questionsOf("layout"), Options: []string{"Sidebar", "Topbar", "Chat about this"}}
	command = &agent.Request{Type: agent.PromptPermission}
	gateway = &agent.Request{Type: agent.PromptSetup, Subtype: agent.Pointer(agent.SubtypeAutoMode)}
	notice  = &agent.Request{Type: agent.PromptNotice}
	planned = &agent.Request{Type: agent.PromptPlan}
	filling = &agent.Request{Type: agent.PromptForm, Schema: []byte(formSchema)}
	preset  = &agent.Request{Type: agent.PromptForm, Schema: []byte(`{"properties":{"count":{"type":"integer","default":4},"name":{"type":"string","default":"Ann Lee"},
		"size":{"type":"string","enum":["small","medium","large"],"default":"medium"},"sure":{"type":"boolean","default":false},
		"tags":{"type":"array","items":{"type":"string","enum":["red","green","blue"]},"default":["red","blue"]}},"required":["name"]}`)}
)

func optionN(n int) agent.Answer { return agent.Answer{Kind: agent.ChooseOption, Option: n} }

func denied(why string) agent.Answer { return agent.Answer{Kind: agent.Deny, Text: why} }

func fields(text string) agent.Answer {
	return agent.Answer{Kind: agent.Accept, Fields: decoded(text)}
}

func each(picks ...agent.QuestionPick) agent.Answer {
	return agent.Answer{Kind: agent.AnswerEach, Each: picks}
}

// waySteps reads key@screen, and of a paste "text"@screen.
var waySteps = regexp.MustCompile(`("[^"]*"|[^ @]+)@(\w+)`)

// TestKeys answers at screens of the real program: each key is pressed only at the screen
// that is named with it, and at no other dialog and no composer.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name    string
		prompt  *agent.Request
		answer  agent.Answer
		way     string
		outcome string
	}{
		{"accept", command, agent.Answer{Kind: agent.Accept}, `1@bash`, "accepted"},
		{"deny", command, denied(""), `Escape@bash`, "denied"},
		{"option", command, optionN(2), `2@bash`, "accepted"},
		{"last option", command, optionN(3), `Escape@bash`, "denied"},
		{"deny why", command, denied("use another file"), `Down@bash Down@bash2 Tab@bash_no "use another file"@bash_no_input Enter@bash_no_typed`, "denied"},
		{"no numbers, accept", command, agent.Answer{Kind: agent.Accept}, `Down@unnumbered Enter@unnumbered_yes`, "accepted"},
		{"no numbers, deny", command, denied(""), `Escape@unnumbered`, "denied"},
		{"no numbers, deny from yes", command, denied(""), `Escape@unnumbered_yes`, "denied"},
		{"no numbers, option", command, optionN(2), `Down@unnumbered Enter@unnumbered_yes`, "accepted"},
		{"no numbers, deny why", command, denied("do it otherwise"), `Tab@unnumbered "do it otherwise"@unnumbered_no_input Enter@unnumbered_no_typed`, "denied"},
		{"no check, stay", gateway, agent.Answer{Kind: agent.Accept}, `Enter@gateway`, "accepted"},
		{"no check, leave", gateway, optionN(2), `S-Tab@gateway`, "answered"},
		{"no check, closed", gateway, denied(""), `Escape@gateway`, "denied"},
		{"settings closed from the tabs", notice, denied(""), `Escape@config330 Escape@config330_list`, "denied"},
		{"settings closed from the list", notice, denied(""), `Escape@config330_list`, "denied"},
		{"plan by option", planned, optionN(1), `1@plan`, "accepted"},
		{"plan accepted", planned, agent.Answer{Kind: agent.Accept}, `2@plan`, "accepted"},
		{"plan in words", planned, agent.Answer{Kind: agent.AnswerText, Text: "use python"}, `3@plan "use python"@plan_input Enter@plan_typed`, "denied"},
		{"plan refused", planned, denied(""), `Escape@plan`, "denied"},
		{"three questions", three, each(agent.QuestionPick{Text: "my own words"}, agent.QuestionPick{Options: []int{2}}, agent.QuestionPick{Options: []int{1, 3}, Text: "Own feature"}),
			`4@q3_page1 "my own words"@q3_page1_input Enter@q3_page1_typed 2@q3_page2 1@q3_multi 3@q3_multi_one Down@q3_multi_ticked Down@q3_multi_ticked2 Down@q3_multi_ticked3 ` +
				`"Own feature"@q3_multi_row Tab@q3_multi_typed Enter@q3_multi_submit 1@q3_review`, "answered"},
		{"questions refused", three, denied(""), `Escape@q3_page1`, "denied"},
		{"review submitted", three, optionN(1), `1@q3_review`, "answered"},
		{"review cancelled", three, optionN(2), `2@q3_review`, "denied"},
		{"chat", three, optionN(5), `5@q3_page1`, "answered"},
		{"preview", layout, optionN(2), `2@layout Enter@layout2`, "answered"},
		{"chat beside a preview", layout, optionN(3), `Down@layout Down@layout2 Enter@layout_chat`, "answered"},
		{"form declined", filling, denied(""), `Down@form Down@form_1 Down@form_2 Down@form_3 Down@form_4 Down@form_5 Enter@form_6`, "denied"},
		{"form declined by option", filling, optionN(2), `Enter@form_6`, "denied"},
		{"form cancelled", filling, agent.Answer{Kind: agent.Cancel}, `Escape@form_wrong`, "cancelled"},
		{"form filled in", filling, fields(`{"count":4,"name":"Ann Lee","size":"medium","sure":false,"tags":["red","blue"]}`),
			`"4"@form Down@form_count "Ann Lee"@form_name0 Down@form_name Right@form_size Down@form_size_list Enter@form_size_list2 Space@form_sure Space@form_sure_yes Down@form_sure_no ` +
				`Right@form_tags Space@form_tags_list Down@form_tags_one Down@form_tags_one2 Space@form_tags_one3 Enter@form_tags_two Enter@form_accept`, "accepted"},
		{"form with defaults", preset, agent.Answer{Kind: agent.Accept}, `Enter@form_accept`, "accepted"},
		{"form filled in before", filling, fields(`{"count":4,"name":"Ann Lee","size":"medium","sure":false,"tags":["red","blue"]}`), `Enter@form_accept`, "accepted"},
	} {
		way := waySteps.FindAllStringSubmatch(c.way, -1)
		k, err := claude.Driver{}.Keys(c.prompt, c.answer, screen(t, way[0][2]).Dialog)
		if err != nil || k.Outcome != c.outcome || len(k.Steps) != len(way) {
			t.Errorf("%s: %d keys for %d, %s, %v", c.name, len(k.Steps), len(way), k.Outcome, err)
			continue
		}
		for i, step := range k.Steps {
			name := step.Key
			if step.Paste != "" {
				name = `"` + step.Paste + `"`
			}
			if name != way[i][1] || step.Pause <= 0 {
				t.Errorf("%s: key %d is %s with a pause of %s", c.name, i+1, name, step.Pause)
			}
			if !step.Ready(screen(t, way[i][2])) {
				t.Errorf("%s: %s is not pressed at %s", c.name, name, way[i][2])
			}
			for _, other := range []string{"bash", "q3_page2", "layout", "plan", "form_again"} {
				if kind := screen(t, other).Dialog.Type; kind != c.prompt.Type && step.Ready(screen(t, other)) {
					t.Errorf("%s: %s is pressed at %s", c.name, name, other)
				}
			}
			if step.Ready(&agent.Reading{Composer: &agent.Composer{Empty: true}}) || step.Ready(&agent.Reading{}) {
				t.Errorf("%s: %s is pressed without a dialog", c.name, name)
			}
			if i > 0 && way[i-1][2] != way[i][2] && step.Ready(screen(t, way[i-1][2])) {
				t.Errorf("%s: %s is pressed before %s has shown its effect", c.name, name, way[i-1][1])
			}
		}
	}
}

// TestKeysGoBack: a person has gone to a later page.
func TestKeysGoBack(t *testing.T) {
	k, err := claude.Driver{}.Keys(three, each(agent.QuestionPick{Options: []int{1}}, agent.QuestionPick{Options: []int{1}}, agent.QuestionPick{Options: []int{2}}), screen(t, "q3_back").Dialog)
	if err != nil || len(k.Steps) < 3 {
		t.Fatalf("%d keys, %v", len(k.Steps), err)
	}
	for i, at := range []string{"q3_back", "q3_back2", "q3_back1"} {
		key := []string{"Left", "Left", "1"}[i]
		if k.Steps[i].Key != key || !k.Steps[i].Ready(screen(t, at)) {
			t.Errorf("at %s: %s", at, k.Steps[i].Key)
		}
	}
	if last := k.Steps[len(k.Steps)-1]; last.Key != "1" || last.Ready(screen(t, "q3_review")) {
		t.Error("answers that are others' would be submitted")
	}
}

// TestKeysRefused: what cannot be answered so is refused before any key.
func TestKeysRefused(t *testing.T) {
	partial := *screen(t, "bash").Dialog
	partial.Partial = true
	for _, c := range []struct {
		name   string
		prompt *agent.Request
		answer agent.Answer
		dialog *agent.Dialog
		err    error
		says   string
	}{
		{"no dialog", command, agent.Answer{Kind: agent.Accept}, nil, agent.ErrNotReady, ""},
		{"half a dialog", command, agent.Answer{Kind: agent.Accept}, &partial, agent.ErrNotReady, ""},
		{"no such option", command, optionN(4), screen(t, "bash").Dialog, agent.ErrAnswer, "options 1 to 3"},
		{"text for a permission", command, agent.Answer{Kind: agent.AnswerText, Text: "x"}, screen(t, "bash").Dialog, agent.ErrAnswer, "option N"},
		{"option for words", planned, optionN(3), screen(t, "plan").Dialog, agent.ErrAnswer, "deny TEXT"},
		{"one option for three", three, optionN(1), screen(t, "q3_page1").Dialog, agent.ErrAnswer, "answer 1=N"},
		{"deny a question why", three, denied("no"), screen(t, "q3_page1").Dialog, agent.ErrCannot, "nudge"},
		{"words beside a preview", layout, agent.Answer{Kind: agent.AnswerText, Text: "x"}, screen(t, "layout").Dialog, agent.ErrCannot, "option N"},
		{"a person types there", three, each(agent.QuestionPick{Options: []int{1}}, agent.QuestionPick{Options: []int{1}}, agent.QuestionPick{Options: []int{1}}), screen(t, "q3_page1_typed").Dialog, agent.ErrCannot, "attach"},
		{"pages never seen", &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{questionsOf("color")[0], {Header: "Size"}}},
			each(agent.QuestionPick{Options: []int{1}}, agent.QuestionPick{Text: "x"}), screen(t, "q3_page1").Dialog, agent.ErrNotReady, "question 2 (Size)"},
		{"required and not given", filling, fields(`{"count":1}`), screen(t, "form").Dialog, agent.ErrAnswer, "name"},
		{"accept without what is required", filling, agent.Answer{Kind: agent.Accept}, screen(t, "form").Dialog, agent.ErrAnswer, "name"},
		{"filled in at the terminal", filling, fields(`{"count":4,"name":"Ann Lee","size":"medium","sure":false}`), screen(t, "form_accept").Dialog, agent.ErrAnswer, "tags holds"},
		{"accept what was filled in at the terminal", filling, agent.Answer{Kind: agent.Accept}, screen(t, "form_accept").Dialog, agent.ErrAnswer, "count holds"},
		{"no such field", filling, fields(`{"name":"x","nope":1}`), screen(t, "form").Dialog, agent.ErrAnswer, "nope"},
		{"another type", filling, fields(`{"name":7}`), screen(t, "form").Dialog, agent.ErrAnswer, "a text"},
		{"none of its values", filling, fields(`{"name":"x","size":"huge"}`), screen(t, "form").Dialog, agent.ErrAnswer, "small, medium, large"},
		{"a list for one", filling, fields(`{"name":"x","size":["small"]}`), screen(t, "form").Dialog, agent.ErrAnswer, "one of"},
		{"one for a list", filling, fields(`{"name":"x","tags":"red"}`), screen(t, "form").Dialog, agent.ErrAnswer, "a list"},
		{"words for a yes", filling, fields(`{"name":"x","sure":"yes"}`), screen(t, "form").Dialog, agent.ErrAnswer, "true or false"},
		{"fields without a schema", &agent.Request{Type: agent.PromptForm}, fields(`{"name":"x"}`), screen(t, "form").Dialog, agent.ErrCannot, "attach"},
		{"required, and nothing is known of it but its title", &agent.Request{Type: agent.PromptForm}, agent.Answer{Kind: agent.Accept}, screen(t, "form").Dialog, agent.ErrAnswer, "needs Name"},
		{"a list is open", filling, fields(`{"name":"x"}`), screen(t, "form_size_list").Dialog, agent.ErrNotReady, ""},
		{"a reason for a form", filling, denied("no"), screen(t, "form").Dialog, agent.ErrCannot, "nudge"},
		{"accept a notice", &agent.Request{Type: agent.PromptNotice}, agent.Answer{Kind: agent.Accept}, &agent.Dialog{Type: agent.PromptNotice}, agent.ErrCannot, "deny"},
	} {
		k, err := claude.Driver{}.Keys(c.prompt, c.answer, c.dialog)
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) || len(k.Steps) > 0 {
			t.Errorf("%s: %d keys, %v; want %v saying %q", c.name, len(k.Steps), err, c.err, c.says)
		}
	}
}

// TestNoDigitIntoText: a person has opened the input after Yes. A digit would be a part of
// their text there, so no key is pressed.
func TestNoDigitIntoText(t *testing.T) {
	d := &agent.Dialog{Type: agent.PromptPermission, Options: []agent.Option{
		{Number: 1, Label: "Yes, and tell Claude what to do next", Focused: true}, {Number: 2, Label: "No"}}}
	p := &agent.Request{Type: agent.PromptPermission, Options: d.Labels()}
	for _, a := range []agent.Answer{{Kind: agent.Accept}, {Kind: agent.Deny}, {Kind: agent.ChooseOption, Option: 2}} {
		if k, err := (claude.Driver{}).Keys(p, a, d); !errors.Is(err, agent.ErrCannot) {
			t.Errorf("%+v: %+v, %v", a, k, err)
		}
	}
}

// TestFormFilledInMeanwhile: Accept is pressed only while the fields that the answer doesn't give hold what
// they held when it came.
func TestFormFilledInMeanwhile(t *testing.T) {
	form := func(name string) *agent.Dialog {
		return &agent.Dialog{Type: agent.PromptForm, Fields: []agent.Field{{Label: "Name", Value: name, Set: name != ""}}, Options: []agent.Option{{Label: "Accept", Focused: true}, {Label: "Decline"}}}
	}
	for _, schema := range []string{"", `{"properties":{"name":{"type":"string","title":"Name"}}}`} {
		k, err := claude.Driver{}.Keys(&agent.Request{Type: agent.PromptForm, Schema: []byte(schema)}, agent.Answer{Kind: agent.Accept}, form(""))
		if err != nil || len(k.Steps) != 1 {
			t.Fatalf("%+v, %v", k, err)
		}
		if ready := k.Steps[0].Ready; !ready(&agent.Reading{Dialog: form("")}) || ready(&agent.Reading{Dialog: form("Eve")}) {
			t.Errorf("with the schema %q it is pressed at another form", schema)
		}
	}
}
