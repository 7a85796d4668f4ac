package agent

import (
	"encoding/json"
	"testing"
)

func TestReadInput(t *testing.T) {
	for raw, ok := range map[string]bool{
		`{}`:                                     true,
		`{"command":"ls","timeout":5}`:           true,
		`{"a":{"b":"a","c":["a",{"a":"b"}]}}`:    true,
		`{"a":"a","b":"a"}`:                      true,
		`{"command":"ls","Command":"rm"}`:        false,
		`{"command":"ls","command":"rm"}`:        false,
		`{"command":"ls","c\u006fmmand":"rm"}`:   false,
		`{"a":{"b":1,"b":2}}`:                    false,
		`{"a":[{"b":1,"c":[],"b":2}]}`:           false,
		"{\"skill\":\"a\",\"s\u212aill\":\"b\"}": false, // the Kelvin sign is a k without case
		`[]`:                                     false,
		`null`:                                   false,
		`"ls"`:                                   false,
		``:                                       false,
		`{"a":1`:                                 false,
	} {
		if in, err := ReadInput([]byte(raw)); (err == nil) != ok {
			t.Errorf("%s: %v, %v", raw, in, err)
		}
	}
	in, err := ReadInput([]byte(`{"a":"x","b":5,"c":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := in.Text("a"); err != nil || s == nil || *s != "x" {
		t.Error(s, err)
	}
	if s, err := in.Text("A"); err != nil || s != nil {
		t.Error(s, err)
	}
	if s, err := in.Text("c"); err != nil || s != nil {
		t.Error(s, err)
	}
	if _, err := in.Text("b"); err == nil {
		t.Error("a number is a text")
	}
}

// A field counts by its exact name. To the agent a name in other letter case is another field,
// so a person must not read it in place of the real one.
func TestReadExactly(t *testing.T) {
	type input struct {
		Plan      string
		Questions []struct{ Question string }
	}
	for raw, ok := range map[string]bool{
		`{"plan":"a","other":{"x":1}}`:                         true,
		`{"questions":[{"question":"a","note":"b"}]}`:          true,
		`{"plan":"a","Plan":"b"}`:                              false,
		`{"PLAN":"b"}`:                                         false,
		`{"plan":"a","plan":"b"}`:                              false,
		`{"questions":[{"question":"a","Question":"b"}]}`:      false,
		`{"questions":[],"Que\u017ftions":[{"question":"b"}]}`: false,
		`{"plan":"a","other":{"pLan":"b"}}`:                    false,
		`{"plan":["a"]}`:                                       false,
	} {
		var in input
		if err := ReadExactly(json.RawMessage(raw), &in, "plan", "questions", "question"); (err == nil) != ok {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
