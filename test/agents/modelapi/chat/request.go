package chat

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"berth/test/agents/modelapi"
)

// Named makes the scenario that a prompt chooses.
func (a API) Named(name, args string, scene modelapi.Scene) (modelapi.Scenario, error) {
	all := modelapi.Common()
	maps.Copy(all, map[string]modelapi.Maker{"error": httpError}) // STATUS [TIMES]: for ever without TIMES
	maps.Copy(all, a.Scenarios)
	return modelapi.Make(all, name, args, scene)
}

// kinds are OpenAI's names of failures by their statuses.
var kinds = map[int][2]string{
	400: {"invalid_request_error", "The lab says that this is malformed."},
	401: {"invalid_api_key", "Incorrect API key provided."},
	402: {"insufficient_quota", "You exceeded your current quota, please check your plan and billing details."},
	403: {"permission_denied", "Your project may not use this."},
	429: {"rate_limit_exceeded", "Rate limit reached for requests."},
	500: {"server_error", "The server had an error while processing your request."},
	503: {"overloaded", "The engine is currently overloaded."},
}

func httpError(args string, _ modelapi.Scene) []modelapi.Step {
	n := modelapi.Numbers(args, http.StatusInternalServerError, 0)
	said := kinds[n[0]]
	return []modelapi.Step{
		{Status: n[0], ErrorType: cmp.Or(said[0], "error"), Message: said[1], Times: n[1]},
		modelapi.Say(modelapi.Text("It worked after all.")),
	}
}

type body struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Messages []message         `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// texts are the parts of a message.
func (m message) texts() []string {
	var whole string
	if json.Unmarshal(m.Content, &whole) == nil {
		return []string{whole}
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(m.Content, &parts) // anything else has no text for us
	var list []string
	for _, p := range parts {
		list = append(list, p.Text)
	}
	return list
}

// Read fills in what the body says.
func (a API) Read(r *modelapi.Request) {
	r.Kind = modelapi.KindOther
	if r.Method != http.MethodPost || !strings.HasSuffix(r.Path, "/chat/completions") {
		return
	}
	var b body
	if json.Unmarshal(r.Body, &b) != nil {
		return
	}
	r.Model, r.Stream = b.Model, b.Stream
	a.prompt(r, b.Messages)
	r.Kind = kind(b)
}

// kind classifies the client's requests by fields that only they have.
func kind(b body) modelapi.Kind {
	if len(b.Tools) > 0 {
		return modelapi.KindTurn
	}
	for _, m := range b.Messages {
		for _, text := range m.texts() {
			if strings.Contains(strings.ToLower(text), "title") {
				return modelapi.KindTitle
			}
		}
	}
	return modelapi.KindSide
}

// prompt finds the message that began the turn, and counts the answers since.
func (a API) prompt(r *modelapi.Request, list []message) {
	for i, m := range list {
		switch m.Role {
		case "assistant":
			r.Step++
		case "user":
			for _, text := range m.texts() {
				ok := true
				if a.Message != nil {
					text, ok = a.Message(text)
				}
				if !ok || text == "" {
					continue
				}
				r.Texts = append(r.Texts, text)
				r.Prompt, r.Index, r.Step = text, i, 0
			}
		}
	}
}
