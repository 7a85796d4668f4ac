// Package shape gives a verb's JSON the form that its caller asks for with --jq or --format. The
// expression is the caller's program: it may loop for ever, need all memory, or nest values until
// the stack overflows, which no Go program survives. So it runs in a process of its own, which the
// server starts only for such a call (Start) and which is this same binary (Serve).
//
// The two talk in lines. The server writes the expression as a JSON string, and then one JSON value a
// line. The process answers each line with one reply, a JSON object; the first one says whether the
// expression is valid. A Process belongs to one goroutine.
package shape

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"github.com/itchyny/gojq"
)

// The kinds of expressions.
const (
	JQ       = "jq"
	Template = "format"
)

const (
	// maxExpression bounds an expression, in bytes.
	maxExpression = 16 << 10
	// maxText bounds what one value becomes, in bytes. The largest answers are 1.4 MB.
	maxText = 8 << 20
	// MaxTime bounds the time that one value takes. All of ls for 1,000 sessions takes 20 ms.
	MaxTime = 2 * time.Second
	// maxMemory bounds the process's memory, in bytes.
	maxMemory = 256 << 20
)

// Exit statuses of the process.
const (
	exitDone   = 0
	exitBroken = 1 // the pipe to the server
	exitTime   = 3 // a value took too long
)

// errText says that one value became too much text.
var errText = fmt.Errorf("it prints more than %d MiB for one answer", maxText>>20)

// reply is what the process answers.
type reply struct {
	Text  []byte `json:"text"`
	Error string `json:"error,omitempty"`
	Limit bool   `json:"limit,omitempty"` // Error is about a limit
}

// program turns a value into text. The text of a failed one is what it printed before.
type program func(value any) ([]byte, error)

// serve reads the expression and values from in until its end, and writes replies to out. It returns
// the process's exit status. It calls late when one of them took too long.
func serve(kind string, in io.Reader, out io.Writer, late func()) int {
	reader, replies := bufio.NewReader(in), json.NewEncoder(out)
	line, err := reader.ReadBytes('\n')
	var expression string
	if err != nil || json.Unmarshal(line, &expression) != nil {
		return exitBroken
	}
	clock := time.AfterFunc(MaxTime, late)
	defer clock.Stop()
	run, err := compile(kind, expression)
	if replies.Encode(replyOf(nil, err)) != nil {
		return exitBroken
	}
	if err != nil {
		return exitDone
	}
	for {
		clock.Stop()
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return exitDone
		} else if err != nil {
			return exitBroken
		}
		clock.Reset(MaxTime)
		value, err := decode(kind, line)
		var text []byte
		if err == nil {
			text, err = run(value)
		}
		if replies.Encode(replyOf(text, err)) != nil {
			return exitBroken
		}
	}
}

func replyOf(text []byte, err error) reply {
	if err == nil {
		return reply{Text: text}
	}
	return reply{Text: text, Error: err.Error(), Limit: errors.Is(err, errText)}
}

// decode reads a value with its numbers as the kind of expression takes them. A number that no Go number is the same as
// stays as it is written: a default of a form is what an answer sends.
func decode(kind string, line []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("the answer isn't JSON: %w", err)
	}
	if kind == JQ { // it calculates with json.Number, and writes it as it is
		return v, nil
	}
	return plainNumbers(v), nil
}

// plainNumbers makes int and float64 of numbers, which a template compares.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		f, _ := v.Float64() // out of range is infinite, which has no JSON
		if text, err := json.Marshal(f); err != nil || string(text) != v.String() {
			return v
		}
		return f
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plainNumbers(v[key])
		}
	}
	return v
}

func compile(kind, expression string) (program, error) {
	if kind == Template {
		return compileTemplate(expression)
	}
	return compileJQ(expression)
}

// compileJQ compiles an expression of jq. It has no environment, modules or input but the value.
func compileJQ(expression string) (program, error) {
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, err
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, err
	}
	return func(value any) ([]byte, error) {
		var out bytes.Buffer
		results := code.Run(value)
		for {
			result, ok := results.Next()
			if !ok {
				return out.Bytes(), nil
			}
			if err, failed := result.(error); failed {
				var halt *gojq.HaltError
				if errors.As(err, &halt) && halt.Value() == nil {
					err = nil
				}
				return out.Bytes(), err
			}
			if text, isText := result.(string); isText {
				out.WriteString(text)
			} else if text, err := gojq.Marshal(result); err == nil {
				out.Write(text)
			} else {
				return out.Bytes(), err
			}
			if out.WriteByte('\n'); out.Len() > maxText {
				return nil, errText
			}
		}
	}, nil
}

// compileTemplate compiles a Go template. A list's elements are its values, one after the other.
func compileTemplate(expression string) (program, error) {
	t, err := template.New("format").Funcs(template.FuncMap{
		"json": func(v any) (string, error) {
			text, err := json.Marshal(v)
			return string(text), err
		},
		"join": func(sep string, list []any) string {
			words := []string{}
			for _, v := range list {
				words = append(words, fmt.Sprint(v))
			}
			return strings.Join(words, sep)
		},
		"upper": strings.ToUpper, "lower": strings.ToLower,
	}).Parse(expression)
	if err != nil {
		return nil, err
	}
	return func(value any) ([]byte, error) {
		items, isList := value.([]any)
		if !isList {
			items = []any{value}
		}
		out := &bounded{}
		for _, item := range items {
			if err := t.Execute(out, item); err != nil {
				return out.Bytes(), err
			}
			if _, err := out.Write([]byte("\n")); err != nil {
				return nil, err
			}
		}
		return out.Bytes(), nil
	}, nil
}

// bounded is a buffer that takes no more than maxText.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxText {
		return 0, errText
	}
	return b.Buffer.Write(p)
}
