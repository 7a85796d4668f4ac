package generate

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"berth/test/agents/modelapi"
)

type body struct {
	Contents []content         `json:"contents"`
	Tools    []json.RawMessage `json:"tools"`
	Config   struct {
		Schema     json.RawMessage `json:"responseSchema"`
		JSONSchema json.RawMessage `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

type content struct {
	Role  string `json:"role"`
	Parts []struct {
		Text     string          `json:"text"`
		Response json.RawMessage `json:"functionResponse"`
	} `json:"parts"`
}

var method = regexp.MustCompile(`/models/([^/:]+):(\w+)$`)

// Read fills in what the path and the body say.
func (API) Read(r *modelapi.Request) {
	r.Kind = modelapi.KindOther
	m := method.FindStringSubmatch(r.Path)
	if r.Method != http.MethodPost || m == nil {
		return
	}
	r.Model, r.Stream = m[1], m[2] == "streamGenerateContent"
	if m[2] == "countTokens" {
		r.Kind = modelapi.KindCount
		return
	}
	var b body
	if json.Unmarshal(r.Body, &b) != nil {
		return
	}
	r.Kind = modelapi.KindSide
	if len(b.Tools) > 0 {
		r.Kind = modelapi.KindTurn
	}
	prompt(r, b.Contents)
}

// notices are texts that the client writes in the user's place.
var notices = []string{"<session_context>", "<hook_context>", "[System: ", "System: "}

func isNotice(text string) bool {
	for _, n := range notices {
		if strings.HasPrefix(text, n) {
			return true
		}
	}
	return text == ""
}

// prompt finds what began the turn, and counts the answers since. Words beside a
// tool's result belong to the turn unless they choose a scenario.
func prompt(r *modelapi.Request, list []content) {
	for i, c := range list {
		if c.Role == "model" {
			r.Step++
			continue
		}
		result := false
		for _, p := range c.Parts {
			result = result || len(p.Response) > 0
		}
		for _, p := range c.Parts {
			if isNotice(p.Text) {
				continue
			}
			r.Texts = append(r.Texts, p.Text)
			if _, _, ok := modelapi.Chosen(p.Text); result && !ok {
				continue
			}
			r.Prompt, r.Index, r.Step = p.Text, i, 0
		}
	}
}
