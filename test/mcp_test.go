package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// toolClient is a client of the Model Context Protocol with its connection.
type toolClient struct {
	session *sdk.ClientSession
	begun   chan toolAnswer // of a call in the background; nil without one
}

// toolAnswer is how a call ended.
type toolAnswer struct {
	text   string
	status int // 0: a result; 1: a result that is an error; 2: an error of the protocol
	took   time.Duration
}

// mcpClient is an MCP client, the official SDK's:
//
//	mcp NAME open KEY|local [VERSION]   connect over ssh with that key, or by berth mcp on the host
//	mcp NAME tools                      the names of the tools that are listed
//	mcp NAME call TOOL JSON             the result; with ! it must be an error
//	mcp NAME begin TOOL JSON            the same in the background
//	mcp NAME end                        its result
//	mcp NAME close
func mcpClient(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if len(args) < 2 {
		ts.Fatalf("usage: mcp NAME open|tools|call|begin|end|close ...")
	}
	name, what, args := args[0], args[1], args[2:]
	if what == "open" {
		c, err := s.openTools(args)
		ts.Check(err)
		s.tools[name] = c
		return
	}
	c := s.tools[name]
	if c == nil {
		ts.Fatalf("no client %s is open", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patienceSeconds*2*time.Second)
	defer cancel()
	switch {
	case what == "tools":
		list, err := c.session.ListTools(ctx, nil)
		ts.Check(err)
		var names []string
		for _, t := range list.Tools {
			names = append(names, t.Name)
			schema, err := json.Marshal(t.InputSchema)
			ts.Check(err)
			if strings.Contains(string(schema), "$ref") || strings.Contains(string(schema), "$defs") {
				ts.Fatalf("the schema of %s has references: %s", t.Name, schema)
			}
		}
		slices.Sort(names)
		s.finished(ts, strings.Join(names, " ")+"\n", "", 0)
	case what == "call" && len(args) == 2:
		s.toolAnswer(ts, neg, c.call(ctx, args[0], args[1]))
	case what == "begin" && len(args) == 2:
		c.begun = make(chan toolAnswer, 1)
		go func() { c.begun <- c.call(context.Background(), args[0], args[1]) }()
	case what == "end" && c.begun != nil:
		select {
		case a := <-c.begun:
			s.toolAnswer(ts, neg, a)
		case <-ctx.Done():
			ts.Fatalf("the call has no answer")
		}
	case what == "close":
		ts.Check(c.session.Close())
		delete(s.tools, name)
	default:
		ts.Fatalf("mcp %s: what is that?", what)
	}
}

func (s *stage) toolAnswer(ts *testscript.TestScript, neg bool, a toolAnswer) {
	if a.took > 26*time.Second {
		ts.Fatalf("the call took %s", a.took)
	}
	if len(a.text) > 40_100 {
		ts.Fatalf("the answer has %d bytes", len(a.text))
	}
	s.finished(ts, a.text+"\n", "", a.status)
	s.wanted(ts, neg)
}

func (s *stage) openTools(args []string) (*toolClient, error) {
	if len(args) == 0 {
		return nil, errors.New("usage: mcp NAME open KEY|local [VERSION]")
	}
	cmd := s.ssh(args[0], "mcp")
	if args[0] == "local" {
		cmd = exec.Command(berth, "mcp")
		cmd.Env = s.environ()
	}
	var options sdk.ClientSessionOptions
	if len(args) > 1 {
		options.ProtocolVersion = args[1]
	}
	ctx, cancel := context.WithTimeout(context.Background(), patienceSeconds*time.Second)
	defer cancel()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: cmd}, &options)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &toolClient{session: session}, nil
}

func (c *toolClient) call(ctx context.Context, tool, arguments string) toolAnswer {
	began := time.Now()
	r, err := c.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	a := toolAnswer{took: time.Since(began)}
	var refused *jsonrpc.Error
	switch {
	case errors.As(err, &refused):
		a.status, a.text = 2, fmt.Sprintf(`{"rpc":%d,"message":%q}`, refused.Code, refused.Message)
	case err != nil:
		a.status, a.text = 3, fmt.Sprintf("%q", err)
	default:
		if r.IsError {
			a.status = 1
		}
		for _, part := range r.Content {
			if t, ok := part.(*sdk.TextContent); ok {
				a.text += t.Text
			}
		}
	}
	return a
}

// closeTools ends the script's clients.
func (s *stage) closeTools() {
	for _, c := range s.tools {
		_ = c.session.Close() // the server may be gone
	}
}
