// Package mcpclient has the tests of berth's MCP server with clients that other people wrote: that of the protocol's SDK
// for TypeScript, and the inspector. The agent that its tools work on is a real Claude Code, which asks a model API on loopback.
package mcpclient

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"berth/test/agents/npm"
)

//go:embed pin
var pin embed.FS

//go:embed inspector
var inspectorPin embed.FS

// program reads a tool's call from each line of its input and writes a line with the answer. Its first line lists the tools.
//
//go:embed client.mjs
var program []byte

// SDK is the protocol's SDK for TypeScript.
var SDK = npm.Package{Name: "@modelcontextprotocol/sdk", Version: "1.32.2", Pin: pin, Program: modules}

// modules is the folder of the SDK's modules.
func modules(dir string) (string, error) {
	sdk := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "sdk", "dist", "esm")
	if _, err := os.Stat(filepath.Join(sdk, "client", "index.js")); err != nil {
		return "", fmt.Errorf("there is no SDK in %s", dir)
	}
	return sdk, nil
}

// Inspector is the protocol's tool for developers of servers. Each of its calls is a connection of its own.
var Inspector = npm.Package{Name: "@modelcontextprotocol/inspector", Version: "2.12.0", Pin: inspectorPin, Folder: "inspector", Program: inspector}

func inspector(dir string) (string, error) {
	exe := filepath.Join(dir, "node_modules", ".bin", "mcp-inspector")
	if _, err := os.Stat(exe); err != nil {
		return "", fmt.Errorf("there is no inspector in %s", dir)
	}
	return exe, nil
}
