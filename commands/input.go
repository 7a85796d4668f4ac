package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/keys"
	"berth/terminal"
)

func inputVerb() *Verb {
	return &Verb{
		Name: "input", Group: "drive", Synopsis: "S [--enter] [--wait-lock D] [--takeover] [--lease G] TEXT|-",
		Short: "type exactly these bytes; - reads standard input",
		Examples: []Example{
			{`input alpha --enter "make test"`, "type a line"},
			{`input alpha "y"`, "type one character, without Enter"},
		},
		Need: keys.Operator, Tail: true, Answer: Delivered{}, Run: input,
		Flags: func(f *pflag.FlagSet) {
			f.Bool("enter", false, "press Enter after the text")
			claimFlags(f)
		},
	}
}

func input(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	text, err := c.tailBytes()
	if err != nil {
		return err
	}
	enter, _ := c.flags.GetBool("enter")
	if len(text) == 0 && !enter {
		return api.Errorf(api.CodeUsage, "input: nothing to type. Usage: input S [--enter] TEXT|-")
	}
	writes := [][]byte{text}
	if enter {
		writes = append(writes, []byte("\r"))
	}
	if err := s.Deliver(ctx, c.claim("input", keys.Operator, s), writes...); err != nil {
		return err
	}
	done := c.delivered(s, len(text))
	return c.answer(done, func(w io.Writer) { fmt.Fprintf(w, "typed %d bytes into %s\n", done.Bytes, done.Session) })
}

// tailBytes is the text of a verb: the rest of the line unchanged, or standard input for "-". A
// text that is too long is refused, because a cut message would be worse than none.
func (c *Call) tailBytes() ([]byte, error) {
	if !c.Stdin {
		return []byte(c.Tail), nil
	}
	text, err := io.ReadAll(io.LimitReader(c.In, c.MaxInput+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	if int64(len(text)) > c.MaxInput {
		return nil, api.Errorf(api.CodeLimit, "standard input is longer than %d bytes (limits.input_bytes): nothing was typed", c.MaxInput)
	}
	return text, c.stillAllowed()
}

func keysVerb() *Verb {
	return &Verb{
		Name: "keys", Group: "drive", Synopsis: "S NAME... [--wait-lock D] [--takeover] [--lease G]",
		Short: "press keys by name: Enter Escape Tab Up Ctrl-c Alt-x F1 Shift-Tab ...",
		Examples: []Example{
			{"keys alpha Escape", "press a key"},
			{"keys alpha Up Enter", "press two, one after the other"},
			{"keys alpha Ctrl-c", "interrupt a program in a shell"},
		},
		Need: keys.Operator, MinArgs: 2, MaxArgs: maxKeys + 1, Answer: Delivered{}, Run: pressKeys, Flags: claimFlags,
	}
}

// maxKeys is the most keys that one call presses: enough to leave any dialog.
const maxKeys = 256

func pressKeys(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	names := c.Args[1:]
	for _, name := range names {
		if !utf8.ValidString(name) {
			return api.Errorf(api.CodeUsage, "keys: %s is not UTF-8", api.Quote(name))
		}
		if _, err := terminal.EncodeKey(name, terminal.Modes{}); err != nil {
			return api.Errorf(api.CodeUsage, "keys: %w", err)
		}
	}
	n, err := s.Press(ctx, c.claim("keys", keys.Operator, s), names)
	if err != nil {
		return err
	}
	done := c.delivered(s, n)
	return c.answer(done, func(w io.Writer) { fmt.Fprintf(w, "pressed %d keys in %s\n", len(names), done.Session) })
}

func lockVerb() *Verb {
	return &Verb{
		Name: "lock", Group: "drive", Synopsis: "S [--for 30s] [--wait-lock D] [--takeover] [--lease G]", Short: "keep control of a session's input across calls; prints the generation to pass as --lease",
		Examples: []Example{
			{"lock alpha --for 1s", "keep others from typing for a second"},
			{"lock beta --for 1s --json", "the generation is in the answer"},
		},
		Need: keys.Operator, MinArgs: 1, MaxArgs: 1, Answer: Locked{}, Run: lock,
		Flags: func(f *pflag.FlagSet) {
			f.Duration("for", lockDefault, "how long, at most 10m")
			claimFlags(f)
		},
	}
}

// Locked is the answer of lock: who has control now.
type Locked struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	api.Writer
}

func lock(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	d, _ := c.flags.GetDuration("for")
	if d <= 0 || d > lockLongest {
		return api.Errorf(api.CodeUsage, "lock: --for must be a time of at most %s, such as 30s", lockLongest)
	}
	w, err := s.Lock(ctx, c.claim("lock", keys.Operator, s), d)
	if err != nil {
		return err
	}
	return c.answer(Locked{s.Status().Name, s.ID(), *w}, func(out io.Writer) {
		fmt.Fprintf(out, "locked until %s; pass --lease %d\n", w.Expires.Local().Format("15:04:05"), w.Generation)
	})
}

func unlockVerb() *Verb {
	return &Verb{
		Name: "unlock", Group: "drive", Synopsis: "S --lease G", Short: "release a lock",
		Examples: []Example{
			{"unlock alpha --lease 120", "release the lock of generation 120"},
		},
		Need: keys.Operator, MinArgs: 1, MaxArgs: 1, Answer: Delivered{}, Run: unlock,
		Flags: func(f *pflag.FlagSet) { f.Uint64("lease", 0, "the generation that lock printed") },
	}
}

func unlock(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	g, _ := c.flags.GetUint64("lease")
	if g == 0 {
		return Lookup("unlock").usage(errors.New("--lease is missing"))
	}
	if err := s.Unlock(ctx, c.actor(), g); err != nil {
		return err
	}
	return c.answer(c.delivered(s, 0), func(w io.Writer) { fmt.Fprintln(w, "unlocked") })
}
