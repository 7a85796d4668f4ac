package commands

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

var updatePage = flag.Bool("update", false, "write docs/verbs.md anew")

// TestVerbsPage: docs/verbs.md is what the table of verbs says. With -update it is written anew.
func TestVerbsPage(t *testing.T) {
	const name = "../docs/verbs.md"
	want := verbsPage()
	if *updatePage {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != want {
		t.Errorf("%s isn't what the verbs say: go test ./commands -run TestVerbsPage -update", name)
	}
}

func verbsPage() string {
	var b strings.Builder
	b.WriteString(`# Verbs

<!-- Written by go test ./commands -run TestVerbsPage -update -->

A verb follows ` + "`ssh agents@host`, or `berth`" + ` on the server's machine. ` + "`help VERB`" + ` prints what is here.
[The command line](command-line.md) has what all verbs share: quoting, answers and their parts, exit statuses.

| | |
| --- | --- |
`)
	for _, group := range groups {
		var names []string
		for _, v := range verbs() {
			if v.Group == group {
				names = append(names, fmt.Sprintf("[`%s`](#%s)", v.Name, v.Name))
			}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", group, strings.Join(names, " "))
	}
	b.WriteString("\n")
	aliases := Aliases()
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		fmt.Fprintf(&b, "`%s` is `%s`. ", alias, strings.Join(aliases[alias], " "))
	}
	b.WriteString("\n")
	for _, v := range verbs() {
		fmt.Fprintf(&b, "\n## %s\n\n`%s`\n\n%s. Role: `%s`.\n", v.Name, v.Usage(), sentence(v.Short), v.Need)
		if v.Flags != nil {
			b.WriteString("\n| option | |\n| --- | --- |\n")
			own := pflag.NewFlagSet(v.Name, pflag.ContinueOnError)
			v.Flags(own)
			own.VisitAll(func(f *pflag.Flag) {
				value, usage := pflag.UnquoteUsage(f)
				fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimSpace("--"+f.Name+" "+value), cell(usage))
			})
		}
		b.WriteString("\n| example | |\n| --- | --- |\n")
		for _, e := range v.Examples {
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(e.Line, "|", `\|`), cell(e.Does))
		}
	}
	b.WriteString("\n# Topics\n\n`help TOPIC` prints these too.\n")
	for _, t := range topics() {
		fmt.Fprintf(&b, "\n## %s\n\n%s:\n\n```text\n%s```\n", t.name, sentence(t.short), t.text())
	}
	return b.String()
}

// cell is a text as a cell of a table, where signs have no meaning.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "\n", " ").Replace(text)
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + cell(text[1:]) }
