// Command man writes the manual pages of a Berth binary into a folder: berth(1) from the binary's own
// help, and berth.yaml(5) from docs/configuration.md. So each fact has one source.
//
//	man BERTH CONFIGURATION.md FOLDER
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: man BERTH CONFIGURATION.md FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

func run(berth, configuration, folder string) error {
	b, err := open(berth)
	if err != nil {
		return err
	}
	verbs, err := b.verbs()
	if err != nil {
		return err
	}
	markdown, err := os.ReadFile(configuration)
	if err != nil {
		return fmt.Errorf("read the configuration's page: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make the folder of the pages: %w", err)
	}
	for name, text := range map[string]string{
		"berth.1":      verbs,
		"berth.yaml.5": b.configuration(string(markdown)),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write a page: %w", err)
		}
	}
	return nil
}

// binary is a Berth program that describes itself.
type binary struct {
	path    string
	Version string `json:"version"`
	BuiltAt string `json:"built_at"`
}

func open(path string) (*binary, error) {
	b := &binary{path: path}
	out, err := b.output("version", "--json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(out), b); err != nil {
		return nil, fmt.Errorf("read the version: %w", err)
	}
	return b, nil
}

// output runs a verb that needs no server. No socket is there, so that no running server answers.
func (b *binary) output(args ...string) (string, error) {
	cmd := exec.Command(b.path, args...)
	cmd.Env = append(os.Environ(), "BERTH_SOCKET=/nonexistent/berth.sock")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run berth %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}

func (b *binary) page(title, section string) *page {
	day, _, _ := strings.Cut(b.BuiltAt, "T")
	p := &page{}
	p.request(".TH %s %s %q %q Berth", title, section, day, "berth "+b.Version)
	return p
}

// verb is what help --json says about one.
type verb struct {
	Name, Group, Usage, Short, Role string
	Options                         []struct{ Name, Type, Usage, Default string }
	Examples                        []struct{ Line, Does string }
}

func (b *binary) verbs() (string, error) {
	p := b.page("BERTH", "1")
	p.section("NAME")
	p.paragraph("berth, berth-hold, berth-fleet - terminals for AI coding agents, shared over SSH")
	p.section("SYNOPSIS")
	p.literal("berth serve [options]\nberth VERB [options] ...\nssh agents@HOST VERB [options] ...")
	p.section("DESCRIPTION")
	p.paragraph("`berth serve` starts a server. Each agent or program that it runs has a terminal of its own, which goes on when the server ends. " +
		"The verbs below work with `ssh` from any machine, and as `berth VERB` on the server's own machine. Without a verb there is a dashboard.")
	p.paragraph("The server runs `berth-hold` for each session, and agents run it in their hooks. It runs `berth-fleet` if it is a fleet's gateway. Both must be next to `berth`. People don't call them.")
	p.section("COMMANDS OF THE HOST")
	for _, name := range []string{"serve", "config check", "rules test", "completion"} {
		text, err := b.output(append(strings.Fields(name), "--help")...)
		if err != nil {
			return "", err
		}
		p.subsection("berth " + name)
		p.literal(text)
	}
	out, err := b.output("help", "--json")
	if err != nil {
		return "", err
	}
	var verbs []verb
	if err := json.Unmarshal([]byte(out), &verbs); err != nil {
		return "", fmt.Errorf("read the verbs: %w", err)
	}
	p.section("VERBS")
	p.paragraph("Answers are text with a terminal, else JSON; `--json` and `--text` choose. `-q`, `--json=FIELD,..`, `--format` and `--jq` choose parts.")
	for _, v := range verbs {
		p.verb(v)
	}
	list, err := b.output("help", "--text")
	if err != nil {
		return "", err
	}
	_, topics, _ := strings.Cut(list, "\ntopics:")
	for line := range strings.Lines(topics) {
		if !strings.HasPrefix(line, "  ") {
			continue
		}
		name := strings.Fields(line)[0]
		text, err := b.output("help", name, "--text")
		if err != nil {
			return "", err
		}
		_, text, _ = strings.Cut(text, "\n")
		p.section(strings.ToUpper(name))
		p.literal(text)
	}
	p.section("FILES")
	p.item("`/etc/berth/berth.yaml`", "the configuration, for a server without one of its own user")
	p.item("`/etc/berth/authorized_keys`", "the keys that may log in, where a package is installed")
	p.item("`/var/lib/berth`", "the state of a server that runs as a service")
	p.section("SEE ALSO")
	p.paragraph("`berth.yaml`(5), `ssh`(1)")
	return p.String(), nil
}

func (p *page) verb(v verb) {
	p.subsection(v.Usage)
	p.paragraph(sentence(v.Short) + " Needs the role " + v.Role + ".")
	for _, o := range v.Options {
		name := "`--" + o.Name
		if o.Type != "bool" {
			name += " " + strings.ToUpper(o.Type)
		}
		p.item(name+"`", o.Usage)
	}
	for _, e := range v.Examples {
		p.literal("berth " + e.Line)
		p.paragraph(sentence(e.Does))
	}
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }
