package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/terminal"
)

// Init is the answer of init.
type Init struct {
	Agent     string     `json:"agent"`
	Installed bool       `json:"installed"` // the files are written
	Files     []InitFile `json:"files"`
}

// InitFile is a settings file of the agent's user.
type InitFile struct {
	Path    string `json:"path"`
	Changed bool   `json:"changed"` // it isn't yet as Text
	Diff    string `json:"diff"`    // lines with - and +; only with --install
	Text    string `json:"text"`    // the whole file; without --install only the hooks
}

func initVerb() *Verb {
	return &Verb{
		Name: "init", Group: "access", Synopsis: "AGENT [--install]", Short: "hooks for an agent that a person starts in a shell of a session",
		Examples: []Example{
			{"init claude", "print the hooks for Claude Code's settings.json"},
			{"init claude --install", "show the difference and write them into the settings of the server's user"},
		},
		Need: keys.Admin, MinArgs: 1, MaxArgs: 1, Answer: Init{}, Run: initAgent,
		Flags: func(f *pflag.FlagSet) {
			f.Bool("install", false, "print the difference of each of the agent's settings files, and write it")
		},
	}
}

func initAgent(_ context.Context, c *Call) error {
	if err := c.wholeServer("init"); err != nil {
		return err
	}
	install, err := c.flags.GetBool("install")
	if err != nil {
		return err
	}
	files, err := c.Sessions.UserHooks(c.Args[0], install)
	if err != nil {
		return err
	}
	out := Init{Agent: c.Args[0], Installed: install, Files: []InitFile{}}
	for _, f := range files {
		one := InitFile{Path: f.Path, Changed: !bytes.Equal(f.Before, f.After), Text: string(f.After)}
		if install {
			one.Diff = difference(f)
		}
		out.Files = append(out.Files, one)
	}
	if install {
		if err := c.install(out, files); err != nil {
			return err
		}
	}
	return c.answer(out, out.text)
}

// install writes the files that change. As text each difference is printed before its file is written.
func (c *Call) install(out Init, files []agent.UserFile) error {
	written := []string{}
	for i, f := range files {
		one := out.Files[i]
		if !c.JSON {
			if err := c.answer(nil, one.text); err != nil {
				return err
			}
		}
		if !one.Changed {
			continue
		}
		if err := c.Sessions.InstallUserFile(f); err != nil {
			done := "no file was changed"
			if len(written) > 0 {
				done = "already written: " + strings.Join(written, ", ")
			}
			e := api.AsError(err)
			return api.Errorf(e.Code, "%w; %s", e, done).With("written", written).With("files", out.Files)
		}
		written = append(written, f.Path)
	}
	return nil
}

// text prints the difference that is about to be written.
func (f InitFile) text(w io.Writer) {
	if !f.Changed {
		fmt.Fprintf(w, "%s has the hooks already\n", terminal.Printable(f.Path))
		return
	}
	fmt.Fprintf(w, "%s:\n%s", terminal.Printable(f.Path), printableLines(f.Diff))
}

func (i Init) text(w io.Writer) {
	if i.Installed { // each file was printed before it was written
		fmt.Fprintf(w, "Installed. A %s that runs already reads them at its next start\n", i.Agent)
		return
	}
	for _, f := range i.Files {
		fmt.Fprintf(w, "%s:\n%s", terminal.Printable(f.Path), printableLines(f.Text))
	}
	fmt.Fprintf(w, "Merge this into your own settings, or run: init %s --install\n", i.Agent)
}

func printableLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(terminal.Printable(strings.TrimSuffix(line, "\n")))
		b.WriteByte('\n')
	}
	return b.String()
}

// difference is what a file loses and gets, between the first and the last line that differs.
func difference(f agent.UserFile) string {
	before, after := strings.SplitAfter(string(f.Before), "\n"), strings.SplitAfter(string(f.After), "\n")
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	var b strings.Builder
	for _, side := range []struct {
		sign  string
		lines []string
	}{{"- ", before}, {"+ ", after}} {
		for _, line := range side.lines {
			if line != "" {
				b.WriteString(side.sign + strings.TrimSuffix(line, "\n") + "\n")
			}
		}
	}
	return b.String()
}
