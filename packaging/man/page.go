package main

import (
	"fmt"
	"regexp"
	"strings"
)

// page is a manual page in the language man(7).
type page struct {
	strings.Builder
	headed bool // nothing follows the last heading yet: a paragraph needs no space before it
}

// width is where lines of the source end, in bytes.
const width = 78

func (p *page) request(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
	p.headed = false
}

func (p *page) section(name string) {
	p.request(".SH %s", plain(name))
	p.headed = true
}

func (p *page) subsection(name string) {
	p.request(".SS %s", plain(name))
	p.headed = true
}

// space parts a paragraph from the text before it.
func (p *page) space() {
	if !p.headed {
		p.request(".PP")
	}
}

func (p *page) paragraph(markdown string) {
	p.space()
	p.text(markdown)
}

// item is a term and what it means.
func (p *page) item(term, meaning string) {
	p.request(".TP")
	p.text(term)
	p.text(meaning)
}

// literal is text with its own line breaks.
func (p *page) literal(text string) {
	p.space()
	p.request(".nf\n.RS 4")
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		p.request("%s", start(plain(strings.TrimRight(line, "\n"))))
	}
	p.request(".RE\n.fi")
}

// text writes inline Markdown, in short lines.
func (p *page) text(markdown string) {
	line := ""
	for _, word := range strings.Fields(inline(markdown)) {
		if line != "" && len(line)+1+len(word) > width {
			p.request("%s", start(line))
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line == "" {
		line = `\&`
	}
	p.request("%s", start(line))
}

var roff = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// plain is text that stands for itself.
func plain(s string) string { return roff.Replace(s) }

// start keeps a line's first character from making it a request.
func start(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}

var (
	link  = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	spans = regexp.MustCompile("``[^`].*?``|`[^`]*`|\\*\\*.+?\\*\\*")
)

// inline turns code and strong text into bold, and links into their text.
func inline(markdown string) string {
	var b strings.Builder
	markdown = link.ReplaceAllString(strings.ReplaceAll(markdown, `\|`, "|"), "$1")
	at := 0
	for _, m := range spans.FindAllStringIndex(markdown, -1) {
		b.WriteString(plain(markdown[at:m[0]]))
		b.WriteString(`\fB` + plain(unmarked(markdown[m[0]:m[1]])) + `\fR`)
		at = m[1]
	}
	b.WriteString(plain(markdown[at:]))
	return b.String()
}

// unmarked is a span without its marks.
func unmarked(span string) string {
	for _, mark := range []string{"``", "`", "**"} {
		if strings.HasPrefix(span, mark) && len(span) >= 2*len(mark) {
			return strings.TrimSpace(span[len(mark) : len(span)-len(mark)])
		}
	}
	return span
}

// configuration is docs/configuration.md as berth.yaml(5).
func (b *binary) configuration(markdown string) string {
	p := b.page("BERTH.YAML", "5")
	p.section("NAME")
	p.paragraph("berth.yaml - the configuration of Berth's server")
	p.section("DESCRIPTION")
	_, markdown, _ = strings.Cut(markdown, "\n") // the title
	p.markdown(markdown)
	p.section("SEE ALSO")
	p.paragraph("`berth`(1)")
	return p.String()
}

// markdown writes what the project's pages have: headings, paragraphs, lists, tables, and code that is
// indented or between fences. A comment is for the tests of the page.
// A table is a list of terms, its first column, since a terminal has no room for its columns.
func (p *page) markdown(text string) {
	lines := strings.Split(text, "\n")
	for at := 0; at < len(lines); {
		line := lines[at]
		block := func(more func(string) bool) []string {
			from := at
			for at++; at < len(lines) && more(lines[at]); at++ {
			}
			return lines[from:at]
		}
		switch {
		case strings.TrimSpace(line) == "":
			at++
		case strings.HasPrefix(line, "<!--"):
			at++
		case strings.HasPrefix(line, "```"):
			p.literal(strings.Join(block(func(l string) bool { return l != "```" })[1:], "\n"))
			at++
		case strings.HasPrefix(line, "## "):
			p.section(strings.ToUpper(line[3:]))
			at++
		case strings.HasPrefix(line, "#"):
			p.subsection(strings.TrimLeft(line, "# "))
			at++
		case strings.HasPrefix(line, "|"):
			p.table(block(func(l string) bool { return strings.HasPrefix(l, "|") }))
		case strings.HasPrefix(line, "    "):
			p.literal(strings.Join(block(func(l string) bool { return strings.HasPrefix(l, "    ") }), "\n"))
		case strings.HasPrefix(line, "- "):
			p.request(`.IP \(bu 2`)
			p.text(strings.Join(block(func(l string) bool { return strings.HasPrefix(l, "  ") }), "\n")[2:])
		default:
			p.paragraph(strings.Join(block(func(l string) bool {
				return l != "" && !strings.HasPrefix(l, "- ") && !strings.HasPrefix(l, "|") && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "```")
			}), "\n"))
		}
	}
}

// table writes a row as an item. The last column of a table of three is the default.
func (p *page) table(rows []string) {
	for i, row := range rows {
		cells := strings.Split(strings.ReplaceAll(strings.Trim(row, "|"), `\|`, "\x00"), "|")
		for n := range cells {
			cells[n] = strings.TrimSpace(strings.ReplaceAll(cells[n], "\x00", "|"))
		}
		if i < 2 || len(cells) < 2 { // the heads, and the line below them
			continue
		}
		meaning := cells[1]
		if len(cells) > 2 && cells[2] != "" {
			meaning += ". Default: " + cells[2]
		}
		p.item(cells[0], meaning)
	}
}
