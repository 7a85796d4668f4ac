// Command mcpserver is an MCP server on standard input and output whose tool
// asks its user for something, for the tests of agents that pass that on. It
// makes the file that its argument names when its tools have been listed.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

func main() {
	if err := serve(os.Stdin, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mcpserver:", err)
		os.Exit(1)
	}
}

// message is one of JSON-RPC's: a request has a method and an id, a
// notification no id, an answer no method.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

type object = map[string]any

// Ids of our own requests. One is under way at a time.
const (
	asking      = `"ask"`
	askingAgain = `"again"`
)

// arguments are what the tool asks its user: by a form, or to open an address. Then is asked in its place
// after some time: the first question is cancelled.
type arguments struct {
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"schema"`
	URL     string          `json:"url"`
	After   int             `json:"after"` // milliseconds
	Then    *arguments      `json:"then"`
}

// ask is the request to the client.
func (a *arguments) ask(id string) (message, error) {
	asks := object{"message": a.Message}
	if a.URL != "" {
		asks["mode"], asks["url"], asks["elicitationId"] = "url", a.URL, id
	} else {
		asks["requestedSchema"] = a.Schema
	}
	params, err := json.Marshal(asks)
	return message{Version: "2.0", ID: json.RawMessage(id), Method: "elicitation/create", Params: params}, err
}

// read hands out the lines of the input, and what ended it.
func read(in *os.File) (<-chan []byte, <-chan error) {
	lines, failed := make(chan []byte), make(chan error, 1)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			lines <- bytes.Clone(scanner.Bytes())
		}
		failed <- scanner.Err()
	}()
	return lines, failed
}

// serve answers until its input ends, one message a line.
func serve(in *os.File, out *os.File, listed []string) error {
	lines, failed := read(in)
	w := json.NewEncoder(out)
	var call json.RawMessage // the tool call that waits for its user
	var then *arguments      // what it asks later
	var later <-chan time.Time
	asked := ""
	for {
		var line []byte
		select {
		case <-later:
			later, asked = nil, askingAgain
			again, err := then.ask(askingAgain)
			cancel := message{Version: "2.0", Method: "notifications/cancelled", Params: json.RawMessage(`{"requestId":` + asking + `}`)}
			if err = errors.Join(err, w.Encode(cancel), w.Encode(again)); err != nil {
				return err
			}
			continue
		case next, more := <-lines:
			if !more {
				return <-failed
			}
			line = next
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string
				Arguments       arguments
			}
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("read %.100q: %w", line, err)
		}
		reply := message{Version: "2.0", ID: m.ID}
		switch {
		case m.Method == "initialize":
			reply.Result = object{
				"protocolVersion": m.Params.ProtocolVersion, "capabilities": object{"tools": object{}},
				"serverInfo": object{"name": "lab", "version": "1"},
			}
		case m.Method == "tools/list":
			reply.Result = object{"tools": []object{{
				"name": "ask", "description": "Asks the user.",
				"inputSchema": object{"type": "object", "properties": object{"message": object{"type": "string"}, "schema": object{"type": "object"}, "url": object{"type": "string"}, "after": object{"type": "integer"}, "then": object{"type": "object"}}},
			}}}
		case m.Method == "tools/call":
			call = m.ID
			ask, err := m.Params.Arguments.ask(asking)
			if err != nil {
				return err
			}
			reply, asked = ask, asking
			if then = m.Params.Arguments.Then; then != nil {
				later = time.After(time.Duration(m.Params.Arguments.After) * time.Millisecond)
			}
		case m.Method == "" && string(m.ID) == asked && call != nil:
			said := string(m.Result)
			if len(m.Error) > 0 {
				said = string(m.Error)
			}
			reply.ID, call, later = call, nil, nil
			reply.Result = object{"content": []object{{"type": "text", "text": "the user said " + said}}}
		case len(m.ID) == 0 || m.Method == "":
			continue // a notification, or an answer to nothing
		case m.Method == "ping":
			reply.Result = object{}
		default:
			reply.Error = object{"code": -32601, "message": "there is no " + m.Method}
		}
		if err := w.Encode(reply); err != nil {
			return err
		}
		if m.Method == "tools/list" && len(listed) > 0 {
			if err := os.WriteFile(listed[0], []byte("listed\n"), 0o600); err != nil {
				return err
			}
		}
	}
}
