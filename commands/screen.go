package commands

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/terminal"
)

func screenVerb() *Verb {
	return &Verb{
		Name: "screen", Group: "see", Synopsis: "S [--text|--ansi] [--scrollback N] [--follow]",
		Short: "show the session's screen, as text or with colours",
		Examples: []Example{
			{"screen alpha", "its screen as text"},
			{"screen alpha --ansi", "with colours"},
			{"screen alpha --scrollback 200", "with 200 lines above it"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Answer: api.Screen{}, Run: screen,
		Flags: func(f *pflag.FlagSet) {
			f.Bool("ansi", false, "with colours, as escape sequences")
			f.Int("scrollback", 0, "lines of history above the screen")
			f.BoolP("follow", "f", false, "print it again after each change")
		},
	}
}

func screen(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	ansi, _ := c.flags.GetBool("ansi")
	history, _ := c.flags.GetInt("scrollback")
	follow, _ := c.flags.GetBool("follow")
	if history < 0 {
		return api.Errorf(api.CodeUsage, "--scrollback must be a number of lines, 0 or more")
	}
	if follow {
		return c.followScreen(ctx, s, history, ansi)
	}
	snap, err := s.Snapshot(ctx, history)
	if err != nil {
		return err
	}
	return c.printScreen(s, snap, ansi)
}

// screenEvery bounds how often a constantly changing screen is printed.
const screenEvery = 50 * time.Millisecond

// followScreen prints the screen at each change until the session has ended.
func (c *Call) followScreen(ctx context.Context, s *sessions.Session, history int, ansi bool) error {
	changed, stop := s.Subscribe()
	defer stop()
	var last *terminal.Snapshot
	for {
		if err := c.may("screen", keys.Viewer, s); err != nil {
			return err
		}
		running := s.Status().Running() // read before the screen, so that the screen is final
		snap, err := s.Snapshot(ctx, history)
		if err != nil {
			return err
		}
		if last == nil || last.Revision != snap.Revision || last.Cursor != snap.Cursor || last.Title != snap.Title {
			if err := c.printScreen(s, snap, ansi); err != nil {
				return err
			}
		}
		last = snap
		if !running {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := pause(ctx, screenEvery); err != nil {
			return err
		}
	}
}

// pause lets time pass, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Call) printScreen(s *sessions.Session, snap *terminal.Snapshot, ansi bool) error {
	if ansi {
		var picture []byte
		for _, line := range append(slices.Clone(snap.History), snap.Lines...) {
			picture = append(append(picture, line.ANSI()...), '\n')
		}
		_, err := c.Out.Write(c.lines(picture))
		return err
	}
	st := s.Status()
	shown := api.Screen{
		Session: st.Name, ID: st.ID, Lines: textLines(snap), Cols: snap.Cols, Rows: snap.Rows,
		Cursor:    api.Cursor{Row: snap.Cursor.Row, Col: snap.Cursor.Col, Visible: snap.Cursor.Visible},
		AltScreen: snap.Modes.AltScreen, Title: terminal.Printable(snap.Title), Revision: snap.Revision, Offset: snap.Offset,
	}
	return c.answer(shown, func(w io.Writer) {
		for _, line := range shown.Lines {
			_, _ = io.WriteString(w, terminal.Printable(line)+"\n") // into a buffer, which does not fail
		}
	})
}

func textLines(snap *terminal.Snapshot) []string {
	lines := make([]string, 0, len(snap.History)+len(snap.Lines))
	for _, l := range snap.History {
		lines = append(lines, l.Text())
	}
	for _, l := range snap.Lines {
		lines = append(lines, l.Text())
	}
	return lines
}

func outputVerb() *Verb {
	return &Verb{
		Name: "output", Group: "see", Synopsis: "S [--offset N] [--limit N] [--lines N] [--raw] [--follow|--hook SEQ]",
		Short: "raw output by byte offset",
		Examples: []Example{
			{"output alpha --raw", "all stored output, as the program wrote it"},
			{"output alpha --text -n 20", "the last 20 lines as text"},
			{"output alpha --offset 0 --limit 4096", "a part of it, as JSON"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Answer: api.Output{}, Run: output,
		Flags: func(f *pflag.FlagSet) {
			f.Int64("offset", -1, "first byte to print; default the oldest stored byte, with --follow the newest")
			f.Int64("limit", maxOutput, "most bytes in one answer")
			f.IntP("lines", "n", 0, "begin this many lines before the end, within the last MiB; --offset wins")
			f.Bool("raw", false, "the bytes themselves, without JSON")
			f.BoolP("follow", "f", false, "keep printing as the program prints")
			f.Uint64("hook", 0, "print the whole payload of the hook event with this seq instead")
		},
	}
}

// maxOutput is the most bytes of output in one answer: as base64 in JSON about
// 1.4 MB, which programs still read as one line.
const maxOutput = 1 << 20

func output(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	offset, _ := c.flags.GetInt64("offset")
	limit, _ := c.flags.GetInt64("limit")
	raw, _ := c.flags.GetBool("raw")
	follow, _ := c.flags.GetBool("follow")
	if limit < 1 || limit > maxOutput {
		return api.Errorf(api.CodeUsage, "--limit must be a number of bytes from 1 to %d", maxOutput)
	}
	if c.flags.Changed("offset") && offset < 0 {
		return api.Errorf(api.CodeUsage, "--offset must be a number of bytes, 0 or more")
	}
	if c.flags.Changed("hook") {
		return c.hookOutput(ctx, s, max(offset, 0), limit, raw)
	}
	lines, _ := c.flags.GetInt("lines")
	if offset, err = s.OutputStart(offset, follow && !c.flags.Changed("lines")); err != nil {
		return err
	}
	if c.flags.Changed("lines") && !c.flags.Changed("offset") {
		if offset, err = lastLines(s, offset, lines); err != nil {
			return err
		}
	}
	if follow {
		return c.followOutput(ctx, s, offset, limit, raw)
	}
	if raw && !c.flags.Changed("limit") {
		limit = streamPart
	}
	out, err := s.Output(offset, limit)
	if err != nil {
		return err
	}
	if err := c.printOutput(s, out, raw); err != nil || !raw || c.flags.Changed("limit") {
		return err
	}
	for end := out.TotalWritten; out.NextOffset < end; { // raw without a limit prints what existed when the call began
		if out, err = s.Output(out.NextOffset, min(limit, end-out.NextOffset)); err != nil || len(out.Data) == 0 {
			return err
		}
		if err := c.printOutput(s, out, raw); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// lastLines is the offset that the last lines of the output begin at, at least from.
func lastLines(s *sessions.Session, from int64, lines int) (int64, error) {
	if lines < 1 {
		return 0, api.Errorf(api.CodeUsage, "--lines must be a number of lines, 1 or more")
	}
	first, err := s.Output(from, 1)
	if err != nil {
		return 0, err
	}
	from = max(from, first.TotalWritten-maxOutput)
	out, err := s.Output(from, maxOutput)
	if err != nil {
		return 0, err
	}
	text := bytes.TrimSuffix(out.Data, []byte("\n"))
	for range lines {
		end := bytes.LastIndexByte(text, '\n')
		if end < 0 {
			return out.Offset, nil
		}
		text = text[:end]
	}
	return out.Offset + int64(len(text)) + 1, nil
}

// hookOutput prints the full payload of a hook event. The event itself has only the start of a
// long payload.
func (c *Call) hookOutput(ctx context.Context, s *sessions.Session, offset, limit int64, raw bool) error {
	seq, _ := c.flags.GetUint64("hook")
	if follow, _ := c.flags.GetBool("follow"); follow {
		return Lookup("output").usage(errors.New("--hook and --follow exclude each other"))
	}
	payload, err := s.HookPayload(ctx, seq)
	if err != nil {
		return err
	}
	total := int64(len(payload))
	offset = min(offset, total)
	if raw && !c.flags.Changed("limit") {
		limit = total
	}
	end := min(offset+limit, total)
	return c.printOutput(s, api.Output{Data: payload[offset:end], Offset: offset, NextOffset: end, TotalWritten: total}, raw)
}

// followOutput prints what the program prints until the session has ended.
func (c *Call) followOutput(ctx context.Context, s *sessions.Session, offset, limit int64, raw bool) error {
	changed, stop := s.Subscribe()
	defer stop()
	for {
		if err := c.may("output", keys.Viewer, s); err != nil {
			return err
		}
		running := s.Status().Running() // read before the output, so that no output is missed
		out, err := s.Output(offset, min(limit, streamPart))
		if err != nil {
			return err
		}
		if len(out.Data) > 0 {
			if err := c.printOutput(s, out, raw); err != nil {
				return err
			}
		}
		offset = out.NextOffset
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case len(out.Data) > 0:
			continue
		case !running:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *Call) printOutput(s *sessions.Session, out api.Output, raw bool) error {
	st := s.Status()
	out.Session, out.ID = st.Name, st.ID
	if raw {
		_, err := c.Out.Write(out.Data)
		return err
	}
	if c.JSON {
		return c.printJSON(out)
	}
	return c.answer(out, func(w io.Writer) {
		for _, line := range plainLines(out.Data) {
			_, _ = io.WriteString(w, line+"\n") // into a buffer, which does not fail
		}
	})
}

// plainLines shows output as text. Escape sequences would take effect in the reader's terminal,
// so unprintable characters are made visible instead.
func plainLines(data []byte) []string {
	var lines []string
	start := 0
	for i, b := range data {
		if b == '\n' {
			lines = append(lines, terminal.Printable(trimCR(data[start:i])))
			start = i + 1
		}
	}
	if start < len(data) {
		lines = append(lines, terminal.Printable(trimCR(data[start:])))
	}
	return lines
}

func trimCR(line []byte) string {
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return string(line)
}
