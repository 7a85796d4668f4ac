package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"
)

// verbsOf are the verbs of the binary under test, each with the words after schema for its answers.
var verbsOf = sync.OnceValues(func() (map[string][]string, error) {
	out, err := printed("help", "--json")
	var list []struct {
		Name    string
		Schemas []string
	}
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	verbs := map[string][]string{}
	for _, v := range list {
		verbs[v.Name] = v.Schemas
	}
	return verbs, err
})

// printed is what a verb prints that needs no server.
func printed(argv ...string) ([]byte, error) {
	cmd := exec.Command(berth, argv...)
	cmd.Env = []string{"HOME=/nonexistent", "BERTH_RUNTIME_DIR=/nonexistent", "GORACE=atexit_sleep_ms=0"}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("berth %s: %w", strings.Join(argv, " "), err)
	}
	return out, nil
}

var schemas sync.Map // of *jsonschema.Resolved, by the words after schema

func schemaOf(words string) (*jsonschema.Resolved, error) {
	if s, ok := schemas.Load(words); ok {
		return s.(*jsonschema.Resolved), nil
	}
	out, err := printed(append([]string{"schema"}, strings.Fields(words)...)...)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(out, &s); err != nil {
		return nil, fmt.Errorf("schema %s: %w", words, err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", words, err)
	}
	schemas.Store(words, r)
	return r, nil
}

// checkAnswer checks the JSON of the last output against the schema of the verb that was called, and its
// names. Every call of every script passes it. Words are the call without its key and ssh's options.
func (s *stage) checkAnswer(ts *testscript.TestScript, words []string) {
	verbs, err := verbsOf()
	ts.Check(err)
	words = lineOf(words)
	if len(words) == 0 {
		return
	}
	list, isVerb := verbs[words[0]]
	if !isVerb {
		return
	}
	s.called[words[0]] = true
	if slices.ContainsFunc(words, reshapes) {
		return
	}
	for line := range strings.Lines(s.stdout) {
		var answer any
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &answer) != nil {
			return // text, or bytes
		}
		if failed, ok := answer.(map[string]any); ok && len(failed) == 1 && failed["error"] != nil {
			continue // see checkFails
		}
		name := schemaName(list, words, answer)
		if name == "" {
			return
		}
		schema, err := schemaOf(name)
		ts.Check(err)
		if err := schema.Validate(answer); err != nil {
			ts.Fatalf("%s: the answer isn't as schema %s says: %v\n%s", strings.Join(words, " "), name, err, line)
		}
		if words[0] != "audit" && words[0] != "schema" && words[0] != "help" {
			if err := namedAlike(answer, ""); err != nil {
				ts.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, line)
			}
		}
		s.checked[name] = true
	}
}

// lineOf is a call's line as words, as far as a check needs it.
func lineOf(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if slices.Contains([]string{"-t", "-tt"}, words[0]) {
			return nil // answers are text
		}
		skip := 1
		if slices.Contains([]string{"-o", "-in", "-L", "-R", "-S", "-F", "-p", "-i", "-l"}, words[0]) {
			skip = 2
		}
		words = words[min(skip, len(words)):]
	}
	line := strings.Join(words, " ")
	var array []string
	if json.Unmarshal([]byte(line), &array) == nil {
		return array
	}
	return strings.Fields(line)
}

// reshapes says whether an option makes something else of an answer.
func reshapes(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return slices.Contains([]string{"--jq", "--format", "-q", "--quiet", "--raw", "--ansi", "--cast"}, name) || strings.HasPrefix(word, "--json=")
}

// schemaName is the schema, among those of the verb, of one line of an answer.
func schemaName(schemas, words []string, answer any) string {
	if len(schemas) == 0 {
		return ""
	}
	object, isObject := answer.(map[string]any)
	kind := ""
	switch {
	case words[0] == "watch":
		kind, _ = object["type"].(string)
	case words[0] == "transcript" && isObject:
		kind = "line"
	case words[0] == "help" && isObject:
		kind = "topic"
	case len(words) > 1:
		kind = words[1]
	}
	if name := words[0] + " " + kind; slices.Contains(schemas, name) {
		return name
	}
	return schemas[0]
}

// namedAlike checks that a time is in a field whose name ends in _at, perhaps beside its old name, and that an
// object about a session has its name and its id; an error's details have its name alone. An agent's or a
// caller's own JSON isn't looked at.
func namedAlike(v any, field string) error {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if err := namedAlike(one, field); err != nil {
				return err
			}
		}
	case map[string]any:
		if field != "details" && v["session"] != nil && v["id"] == nil && v["session_id"] == nil {
			return fmt.Errorf("%s has session without id", field)
		}
		for name, one := range v {
			if slices.Contains([]string{"payload", "entry", "schema", "meta", "env"}, name) {
				continue
			}
			if err := namedAlike(one, name); err != nil {
				return err
			}
			if text, ok := one.(string); !ok || !timeForm.MatchString(text) || strings.HasSuffix(name, "_at") {
				continue
			}
			renamed := false
			for other, same := range v {
				renamed = renamed || strings.HasSuffix(other, "_at") && same == one
			}
			if !renamed {
				return fmt.Errorf("the time %s has no name that ends in _at", name)
			}
		}
	}
	return nil
}

// answerIn checks a file as the output of a call, such as one that an agent made.
func answerIn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: answer FILE VERB...")
	}
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	s := stageOf(ts)
	s.stdout = string(data)
	s.checkAnswer(ts, args[1:])
}

// checkCovered checks that the script has called every verb, and has checked an answer for every schema. With
// arguments, that of a verb and those of these parts of it may be missing.
func checkCovered(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 1 {
		ts.Fatalf("usage: covered [VERB PART...]")
	}
	not := map[string]bool{}
	for i, part := range args {
		not[strings.Join(append(args[:1:1], part)[:min(i+1, 2)], " ")] = true
	}
	s := stageOf(ts)
	verbs, err := verbsOf()
	ts.Check(err)
	var missing []string
	for verb, list := range verbs {
		if !s.called[verb] {
			missing = append(missing, verb)
		}
		for _, words := range list {
			if !s.checked[words] && !not[words] {
				missing = append(missing, "schema "+words)
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		ts.Fatalf("the script calls none of these, or gets no answer: %s", strings.Join(missing, ", "))
	}
}
