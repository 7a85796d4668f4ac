// Command mcpserver is an MCP server on standard input and output whose tool
// asks its user for something, for the tests of agents that pass that on. It
// makes the file that its argument names when its tools have been listed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
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

// asking is the id of our own request; one is under way at a time.
const asking = `"ask"`

// serve answers until its input ends, one message a line.
func serve(in *os.File, out *os.File, listed []string) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	w := json.NewEncoder(out)
	var call json.RawMessage // the tool call that waits for its user
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string
				Arguments       struct {
					Message string
					Schema  json.RawMessage
				}
			}
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("read %.100q: %w", lines.Bytes(), err)
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
				"inputSchema": object{"type": "object", "properties": object{"message": object{"type": "string"}, "schema": object{"type": "object"}}},
			}}}
		case m.Method == "tools/call":
			call = m.ID
			params, err := json.Marshal(object{"message": m.Params.Arguments.Message, "requestedSchema": m.Params.Arguments.Schema})
			if err != nil {
				return err
			}
			reply = message{Version: "2.0", ID: json.RawMessage(asking), Method: "elicitation/create", Params: params}
		case m.Method == "" && string(m.ID) == asking && call != nil:
			said := string(m.Result)
			if len(m.Error) > 0 {
				said = string(m.Error)
			}
			reply.ID, call = call, nil
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
	return lines.Err()
}
