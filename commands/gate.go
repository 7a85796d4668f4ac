package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/gates/gate"
)

func gateVerb() *Verb {
	return &Verb{
		Name: "gate", Group: "keep", Synopsis: "S [--cap N] [--schema JSON] [allow | gate TEXT|- | auto | open]",
		Short: "keep an agent working past the end of its turn: with a text, or until it reports; open lets this turn end; without more, show the gate",
		Examples: []Example{
			{"gate alpha", "show its gate"},
			{`gate alpha gate "the tests must pass"`, "keep it working until it reports complete"},
			{`gate alpha --cap 2 gate "look again"`, "at most twice"},
			{"gate alpha open", "let this turn end"},
		},
		Need: keys.Admin, Tail: true, Lead: 1, Answer: sessions.Gate{}, Run: setGate,
		Flags: func(f *pflag.FlagSet) {
			f.Int("cap", 0, fmt.Sprintf("open the gate after this many blocks in a turn; default %d", gate.DefaultCap))
			f.String("schema", "", "JSON Schema that the message of report complete must match")
		},
	}
}

func setGate(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	mode := ""
	if len(c.Args) > 1 {
		mode = c.Args[1]
	}
	if mode != "gate" && (c.HasTail || c.Stdin) {
		return Lookup("gate").usage(fmt.Errorf("only gate takes a text; %s doesn't", api.Quote(mode)))
	}
	if (mode == "" || mode == "open" || mode == "allow") && (c.flags.Changed("cap") || c.flags.Changed("schema")) {
		return Lookup("gate").usage(fmt.Errorf("--cap and --schema belong to gate TEXT and auto"))
	}
	var now sessions.Gate
	switch mode {
	case "":
		now, err = s.Gate(ctx)
	case "open":
		now, err = s.OpenGate(ctx, c.actor())
	default:
		var set gate.Config
		if set, err = c.gateConfig(mode); err != nil {
			return err
		}
		if err := c.may("gate", keys.Admin, s); err != nil { // as it is after its text was read
			return err
		}
		now, err = s.SetGate(ctx, c.actor(), set)
	}
	if err != nil {
		return err
	}
	return c.answer(now, func(w io.Writer) { writeGate(w, now) })
}

func (c *Call) gateConfig(mode string) (gate.Config, error) {
	set := gate.Config{Mode: gate.Mode(mode)}
	if c.flags.Changed("cap") {
		if set.Cap, _ = c.flags.GetInt("cap"); set.Cap < 1 {
			return set, api.Errorf(api.CodeUsage, "gate: --cap must be 1 to %d", gate.MostCap)
		}
	}
	if schema, _ := c.flags.GetString("schema"); schema != "" {
		set.Schema = json.RawMessage(schema)
		if !json.Valid(set.Schema) {
			return set, api.Errorf(api.CodeUsage, "gate: --schema isn't valid JSON")
		}
	}
	if set.Mode != gate.Text {
		return set, nil
	}
	text, err := c.message()
	set.Text = strings.TrimSpace(text)
	return set, err
}

func writeGate(w io.Writer, g sessions.Gate) {
	fmt.Fprintf(w, "%s: %s", g.Session, g.Gate)
	if g.Gate != string(gate.Allow) {
		fmt.Fprintf(w, ", blocked %d of %d times in this turn", g.Blocks, g.Cap)
	}
	if g.Open {
		fmt.Fprintf(w, ", open (%s)", g.Why)
	}
	fmt.Fprintln(w)
	if g.Text != nil {
		fmt.Fprintln(w, *g.Text)
	}
}
