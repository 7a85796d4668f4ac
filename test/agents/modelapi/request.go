package modelapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Kind is what the client wants of a request.
type Kind string

const (
	KindTurn     Kind = "turn"     // the next message of a conversation
	KindTitle    Kind = "title"    // a name for the session, asked of the small model, without tools
	KindCompact  Kind = "compact"  // a summary in place of the conversation
	KindClassify Kind = "classify" // auto mode asks whether a command is harmless
	KindSide     Kind = "side"     // another question beside the conversation
	KindCount    Kind = "count"    // count_tokens
	KindOutside  Kind = "outside"  // for another host, because this server is set as the proxy
	KindOther    Kind = "other"    // a probe, or an unknown path
)

// Request is one request as it came, and what was read in it.
type Request struct {
	N      int // from 1
	Time   time.Time
	Method string
	Path   string
	Query  string
	Header http.Header
	Body   []byte

	Kind     Kind
	Model    string
	Session  string // the conversation's id, of the client's metadata
	Subagent bool   // asked by a subagent
	Stream   bool
	Prompt   string // the text that began the turn
	Step     int    // answers the turn has had
	Scenario string
	Scene    Scene
	Usage    map[string]int // of the answer, in tokens; nil for a failure

	Ended time.Time // when it was answered, or its client left; zero: it is being answered
	Left  bool      // its client left before the answer's end

	Index int // of the prompt among the conversation's items
	// Texts are the messages of the user's in the conversation, in order. What the
	// client itself puts there (reminders, notices) is left out. They are not to be
	// changed.
	Texts []string
}

// Scene is what scenarios need to know of where the client works.
type Scene struct {
	Dir      string // the working directory
	PlanFile string // where a plan goes, in plan mode
}

type body struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	System   json.RawMessage   `json:"system"`
	Messages []message         `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
	Metadata struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type contentBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// blocks reads content that is a text or a list of blocks.
func blocks(content json.RawMessage) []contentBlock {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []contentBlock{{Type: "text", Text: text}}
	}
	var list []contentBlock
	_ = json.Unmarshal(content, &list) // anything else has no text for us
	return list
}

var (
	workingDir = regexp.MustCompile(`(?i)working directory: ([^\n\\"]+)`)
	planFile   = regexp.MustCompile(`/[^\s"'\\:]*/plans/[^\s"'\\:]*\.md`)
	sessionID  = regexp.MustCompile(`session_?(?:id)?[^0-9a-f]{1,6}([0-9a-f]{8}-[0-9a-f-]{27})`)
)

// Read fills in what the body says.
func (messages) Read(r *Request) {
	r.Kind = KindOther
	if r.Method != http.MethodPost || !strings.HasPrefix(r.Path, "/v1/messages") {
		return
	}
	if strings.HasSuffix(r.Path, "/count_tokens") {
		r.Kind = KindCount
		return
	}
	var b body
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return
	}
	r.Model, r.Stream = b.Model, b.Stream
	if m := sessionID.FindStringSubmatch(b.Metadata.UserID); m != nil {
		r.Session = m[1]
	}
	r.Subagent = r.Header.Get("X-Claude-Code-Agent-Id") != ""
	r.prompt(b.Messages)
	r.Kind = kind(b)
	r.scene(b)
}

// kind classifies the client's requests by fields that only they have.
func kind(b body) Kind {
	last := lastText(b.Messages)
	switch {
	case strings.Contains(last, "<summary>") && strings.Contains(last, "summar") && strings.Contains(last, "<analysis>"):
		return KindCompact
	case bytes.Contains(b.System, []byte("<block>")) || strings.Contains(last, "<block>"):
		return KindClassify
	case len(b.Tools) > 0:
		return KindTurn
	case bytes.Contains(b.System, []byte("title")) || strings.Contains(last, "title"):
		return KindTitle
	}
	return KindSide
}

func lastText(list []message) string {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Role != "user" {
			continue
		}
		var all strings.Builder
		for _, b := range blocks(list[i].Content) {
			all.WriteString(b.Text + "\n")
		}
		return all.String()
	}
	return ""
}

// notices are texts that the client writes in the user's place.
var notices = []string{"<system-reminder>", "[Request interrupted", "<local-command", "<command-", "<bash-", "Caveat: ", "Output token limit hit"}

func isNotice(text string) bool {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "<task-notification>") {
		return false // begins a turn, by newer versions in a reminder
	}
	for _, n := range notices {
		if strings.HasPrefix(text, n) {
			return true
		}
	}
	return text == ""
}

// feedback is what a blocked Stop hook said. 2.1.332 gives it in a reminder that begins with words about hooks.
func feedback(text string) string {
	const begin, end = "\nStop hook feedback:\n", "\n</system-reminder>"
	if i := strings.Index(text, begin); i > 0 && strings.HasPrefix(text, "<system-reminder>") {
		return strings.TrimSuffix(strings.TrimSpace(text[i+1:]), end)
	}
	return text
}

// prompt finds what began the turn, and counts the answers since. Words beside a
// tool's result belong to the turn unless they choose a scenario.
func (r *Request) prompt(list []message) {
	for i, m := range list {
		if m.Role == "assistant" {
			r.Step++
			continue
		}
		if m.Role != "user" {
			continue
		}
		content := blocks(m.Content)
		besideResult := false
		for _, b := range content {
			besideResult = besideResult || b.Type == "tool_result"
		}
		for _, b := range content {
			b.Text = feedback(b.Text)
			if b.Type != "text" || isNotice(b.Text) {
				continue
			}
			r.Texts = append(r.Texts, b.Text)
			if _, _, ok := Chosen(b.Text); besideResult && !ok {
				continue
			}
			r.Prompt, r.Index, r.Step = b.Text, i, 0
		}
	}
}

func (r *Request) scene(b body) {
	for _, b := range blocks(b.System) {
		if m := workingDir.FindStringSubmatch(b.Text); m != nil {
			r.Scene.Dir = strings.TrimSpace(m[1])
		}
	}
	for _, m := range b.Messages {
		if m.Role == "assistant" {
			continue
		}
		if found := workingDir.FindSubmatch(m.Content); found != nil && r.Scene.Dir == "" {
			r.Scene.Dir = strings.TrimSpace(string(found[1]))
		}
		if found := planFile.FindAll(m.Content, -1); found != nil {
			r.Scene.PlanFile = string(found[len(found)-1])
		}
	}
}

var choice = regexp.MustCompile(`(?m)\bMOCK: *([a-z0-9_-]+)[ \t]*(.*)$`)

// Chosen reads the line of a prompt that chooses a scenario.
func Chosen(prompt string) (name, args string, ok bool) {
	m := choice.FindStringSubmatch(prompt)
	if m == nil {
		return "", "", false
	}
	return m[1], strings.TrimSpace(m[2]), true
}
