package opencode

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
	"berth/agent/pattern"
)

// Names of tools and of permissions that Berth treats specially. A permission has the name of its
// tool, except for changes of files, which several tools make, and for folders beside the session's.
const (
	toolShell    = "bash"
	toolEdit     = "edit"
	toolWrite    = "write"
	toolFolder   = "external_directory"
	toolFetch    = "webfetch"
	toolQuestion = "question"
)

// metadata is what a permission says of its subject.
type metadata struct {
	Command, URL   string
	File           string `json:"filepath"`
	Diff           string
	Directories    []string
	Format, Reason string
}

// permission makes the prompt of a request. The input of the tool's call has what the request leaves
// out, such as the folder of a command.
func (e *event) permission() *agent.Request {
	r := forks.Permission(e.Permission, "", e.Input)
	r.Options = []string{"Allow once", "Allow always", "Reject"}
	var m metadata
	if len(e.Metadata) > 0 && json.Unmarshal(e.Metadata, &m) != nil {
		m = metadata{}
	}
	patterns := strings.Join(e.Patterns, "\n")
	var more []string
	add := func(head, text string) {
		if text != "" {
			more = append(more, head+text)
		}
	}
	switch {
	case e.Permission == toolShell && m.Command != "":
		r.SetInput(m.Command)
		raw, other := forks.WithCommand(e.Input, m.Command)
		if r.Raw = raw; other && e.Tool != "" { // several calls are a field of the input that its dialog doesn't draw
			add("input: ", agent.Compact(e.Input))
		}
	case e.Permission == toolEdit && m.File != "":
		r.SetInput(m.File)
		r.Raw = agent.Encoded(change{m.Diff, m.File, e.steps(m.Diff), forks.LeadTo(e.Links)})
		r.SetWhole(m.Diff)
	case e.Permission == toolFetch && m.URL != "":
		r.SetInput(m.URL)
	case e.Permission == toolFolder && e.Tool != toolFolder: // a server can name its tool so
		r.SetInput(patterns)
		r.Raw = e.Metadata
		add("command: ", m.Command)
		add("tool: ", e.Tool) // its dialog draws neither
		add("input: ", forks.Joined(forks.Replaced(forks.Escaped(agent.Compact(e.Input))), forks.LeadTo(e.Links)))
	default:
		r.SetInput(patterns)
		add("input: ", forks.Escaped(agent.Compact(e.Input)))
	}
	if e.Cut || e.Call != "" && e.Tool == "" && len(e.Input) == 0 {
		add("", lacks[e.Cut])
		r.SetInPart()
	}
	add("Allow always covers, until opencode ends:\n- ", strings.Join(e.Always, "\n- "))
	r.Text = agent.Pointer(strings.Join(more, "\n"))
	return r.Clone()
}

// lacks says what a permission doesn't show: of one that was too long and was shortened, and of one whose call the plugin doesn't know.
var lacks = map[bool]string{
	true:  "This call is too long for Berth, so its long texts are shown in part.",
	false: "It isn't known which call this is for, so what else that call does isn't shown.",
}

// change is a change of a file as a permission's input has it. Steps are what its diff leaves out, and Links say where its files lead.
type change struct {
	Diff  string `json:"diff"`
	File  string `json:"file"`
	Steps string `json:"steps,omitempty"`
	Links string `json:"links,omitempty"`
}

// steps are the heads of a patch, and the lines of the new text that the diff doesn't show as they are written. For a tool whose input
// isn't known to Berth, and for one of several calls, they are the whole input.
func (e *event) steps(diff string) string {
	in, err := agent.ReadInput(e.Input)
	switch patch := in.Words("patchText"); {
	case e.Tool == "" && e.Call == "":
		return ""
	case err == nil && e.Tool == toolWrite:
		return forks.CutOfWrite(diff, "content", in.Words("content"))
	case err == nil && e.Tool == toolEdit:
		return forks.CutOfEdit(diff, "newString", in.Words("newString"), agent.Compact(in["replaceAll"]) == "true")
	case err == nil && patch != "":
		return forks.CutOfPatch(diff, "patchText", patch)
	}
	return forks.Replaced(agent.Compact(e.Input))
}

// questions makes the prompt of questions.
func questions(input json.RawMessage) *agent.Request {
	r := &agent.Request{Tool: agent.Pointer(toolQuestion), Modal: true, Channel: agent.ChannelKeys}
	forks.ReadQuestions(r, input, false)
	return r.Clone()
}

// Waiting makes the prompt that a call would ask by its input alone.
func (Driver) Waiting(f *agent.Fact) *agent.Request {
	if f.Tool == toolQuestion {
		return questions(f.Input)
	}
	return (&event{Permission: f.Tool, Input: f.Input, Metadata: f.Input}).permission()
}

// Undrawn are the fields of a call that no dialog draws. Of a change they are the heads of its patch, and the
// lines with characters that opencode doesn't draw, or draws as nothing.
func (Driver) Undrawn(tool string, input json.RawMessage, dir string) string {
	in, err := agent.ReadInput(input)
	switch {
	case err == nil && tool == toolEdit:
		return forks.Joined(forks.LinesEnd(in.Words("file"), strings.Join(forks.Added(in.Words("diff")), "\n")), forks.UndrawnOfEdit(in), in.Words("steps"), in.Words("links"))
	case err != nil || tool != toolShell && tool != toolFetch:
		return ""
	}
	maps.DeleteFunc(in, func(name string, _ json.RawMessage) bool {
		return slices.Contains(shownFields, name) || name == "workdir" && in.Words(name) == dir
	})
	return in.Lines()
}

// shownFields are the fields of a call that its dialog draws, or that don't say what it does.
var shownFields = []string{"command", "url", "description"}

// subjects are the tools with a command or a change of a file, by the fields of their permissions.
var subjects = forks.Tools{Shell: toolShell, Edit: toolEdit, File: "file"}

// Subject reads the command or the change of a file.
func (Driver) Subject(p *agent.Request) (agent.Subject, bool) { return subjects.Subject(p) }

// FromDialog makes the prompt of a dialog that the plugin did not report.
func (d Driver) FromDialog(dialog *agent.Dialog) *agent.Request {
	r := forks.Drawn(dialog)
	if r.Type == agent.PromptPermission {
		shown := dialog.Body
		if dialog.Tool == toolShell {
			shown = strings.TrimPrefix(shown, "$ ")
		}
		r.SetInput(shown)
		// A patch may also move or remove a file, and a folder may be read or written: their dialogs don't draw that.
		if dialog.Cut || dialog.Tool == toolEdit || dialog.Tool == toolFolder || dialog.Tool == "" && !drawnWhole.MatchString(dialog.Title) {
			r.SetInPart()
		}
	}
	d.Fill(r, dialog)
	return r
}

// drawnWhole matches the titles of the other dialogs that draw what their tools read or search for. A dialog of any
// other tool, such as a server's, draws its name alone, or a subagent's and not what that is to do.
var drawnWhole = pattern.New("^(?:" + titleAlways + "$|→ Read |→ List |✱ |◈ |◇ |⟳ )")

// Fill adds what only the dialog shows: its options, and of several questions the shown one.
func (Driver) Fill(r *agent.Request, dialog *agent.Dialog) {
	r.ShownBy(dialog)
	if r.Type == agent.PromptQuestion {
		forks.FillQuestion(r, dialog, func() int { return current(r, dialog) }, asks(dialog), asked(dialog))
	}
}

// isOwn reports whether the option takes words.
func isOwn(o agent.Option) bool { return o.Label == optionOwn }

// asked are the question's options, without the last one that takes words: the model may name its options like that.
func asked(d *agent.Dialog) []agent.Option {
	if last := len(d.Options) - 1; last >= 0 && isOwn(d.Options[last]) {
		return d.Options[:last]
	}
	return d.Options
}

// selectAll ends a question that takes several options.
const selectAll = "(select all that apply)"

// asks is the dialog's question, without opencode's own words.
func asks(d *agent.Dialog) string {
	if len(d.Options) > 0 && d.Options[0].Multiple && strings.HasSuffix(drawn.Squeeze(d.Body), drawn.Squeeze(selectAll)) {
		return strings.TrimSpace(d.Body[:strings.LastIndex(d.Body, "(")])
	}
	return d.Body
}

// current is the index of the shown question.
func current(r *agent.Request, d *agent.Dialog) int {
	return forks.Current(r, d, asks(d), drawn.Squeeze)
}

// Match says how much of the prompt the dialog shows.
func (Driver) Match(d *agent.Dialog, p *agent.Request) agent.Match {
	return agent.Matchers{Question: matchQuestion, Permission: matchPermission}.Match(d, p)
}

// margin is how many columns opencode leaves free beside a dialog's text; after has the characters
// that it also breaks a word after.
const (
	margin = 10
	after  = `-/.,:;!?()[]{}\`
)

// matchPermission: a dialog shows a command, the address of a page, or a folder. A change of a file has
// line numbers and a scrollbar: its dialog only shows which file it is.
func matchPermission(d *agent.Dialog, p *agent.Request) agent.Match {
	tool := agent.Value(p.Tool)
	switch {
	case d.Title == titleAlways || d.Tool != tool && d.Tool != "":
		return agent.NoMatch
	case d.Tool == "":
		return agent.MatchIf(!tools.Has(tool), agent.PartMatch)
	case tool == toolFolder:
		return agent.MatchIf(drawn.Squeeze(d.Body) == drawn.Squeeze("Patterns\n- "+strings.ReplaceAll(p.FullInput, "\n", "\n- ")), agent.AlikeMatch)
	case tool == toolEdit:
		return agent.MatchIf(strings.HasSuffix(drawn.Squeeze(d.Title), drawn.Squeeze(path.Base(agent.Value(p.Input)))), agent.PartMatch)
	}
	want := begins[tool] + p.FullInput
	m := drawn.Text{Rows: drawn.Lines(d.Rows), Width: d.Cols - margin, After: after, Shell: tool == toolShell, Cut: d.Cut}.Of(want)
	shown, whole := drawn.Letters(d.Body), drawn.Letters(want)
	if m == agent.NoMatch && shown != "" && (shown == whole || d.Cut && strings.HasPrefix(whole, shown)) {
		m = agent.PartMatch // opencode draws wide characters wrong on a narrow screen
	}
	return m
}

// begins is what the dialogs of these tools draw before the tool's subject.
var begins = map[string]string{toolShell: "$ ", toolFetch: "URL: "}

// matchQuestion compares the shown page with its question.
func matchQuestion(d *agent.Dialog, p *agent.Request) agent.Match {
	return forks.Page{
		Current: current(p, d),
		Tab:     func(tab, header string) bool { return header == "" || tab == header },
		Asks:    func(q *agent.Question) agent.Match { return drawn.Compare(asks(d), q.Text) },
		Offers: func(o agent.Option, label, explained string) agent.Match {
			return drawn.Compare(o.Label+"\n"+o.More, label+"\n"+explained)
		},
		Own: isOwn,
	}.Match(d, p)
}

// wrong is the error for an answer that the prompt does not take; cannot, for one that opencode cannot
// take.
func wrong(takes string) error { return fmt.Errorf("%w: it takes %s", agent.ErrAnswer, takes) }

func cannot(instead string) error { return fmt.Errorf("%w: %s", agent.ErrCannot, instead) }
