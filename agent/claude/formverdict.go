package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/mail"
	"net/url"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"berth/agent"
)

// Actions of an Elicitation hook's answer.
const (
	formAccepted  = "accept"
	formDeclined  = "decline"
	formCancelled = "cancel"
)

// formVerdict answers a form for its hook, which waits while no client is attached that may write. No key is pressed,
// so a server that withdraws its form can't turn the answer to another dialog.
//
// Claude passes the values on as they are, so they are checked here.
func formVerdict(p *agent.Request, a agent.Answer) (agent.Verdict, error) {
	switch {
	case a.Kind == agent.Cancel:
		return formAnswer(formCancelled, nil, agent.OutcomeCancelled)
	case a.Kind == agent.Deny && a.Text != "":
		return agent.Verdict{}, errFormReason
	case a.Kind == agent.Deny || a.Kind == agent.ChooseOption && a.Option == 2:
		return formAnswer(formDeclined, nil, agent.OutcomeDenied)
	case a.Kind == agent.Accept || a.Kind == agent.ChooseOption && a.Option == 1:
		content, err := formContent(p.Schema, a.Fields)
		if err != nil {
			return agent.Verdict{}, err
		}
		return formAnswer(formAccepted, content, agent.OutcomeAccepted)
	}
	return agent.Verdict{}, errFormTakes
}

func formAnswer(action string, content map[string]any, outcome string) (agent.Verdict, error) {
	var out struct {
		Specific struct {
			Event   string         `json:"hookEventName"`
			Action  string         `json:"action"`
			Content map[string]any `json:"content,omitempty"`
		} `json:"hookSpecificOutput"`
	}
	out.Specific.Event, out.Specific.Action, out.Specific.Content = "Elicitation", action, content
	stdout, err := json.Marshal(out)
	if err != nil {
		return agent.Verdict{}, fmt.Errorf("encode the form's values: %w", err)
	}
	return agent.Verdict{Stdout: stdout, Outcome: outcome}, nil
}

// formContent is what the form sends: the given values, and the initial values of the other fields.
func formContent(schema json.RawMessage, given map[string]any) (map[string]any, error) {
	var all []property
	if len(schema) > 0 { // a request to open an address has none
		var err error
		if all, err = properties(schema); err != nil {
			return nil, err
		}
	}
	if err := onlyFields(all, given); err != nil {
		return nil, err
	}
	content := map[string]any{}
	for _, one := range all {
		value, is := given[one.name]
		if !is && one.preset != nil && one.preset != "" {
			value, is = one.preset, true
		}
		if !is {
			if one.required {
				return nil, one.missing()
			}
			continue
		}
		if _, err := one.want(value); err != nil {
			return nil, err
		}
		if err := one.allows(value); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", agent.ErrAnswer, one.name, err)
		}
		content[one.name] = value
	}
	return content, nil
}

// onlyFields refuses values for fields that the form doesn't have.
func onlyFields(all []property, given map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(all, func(one property) bool { return one.name == name }) {
			return fmt.Errorf("%w: the form has no field %q", agent.ErrAnswer, name)
		}
	}
	return nil
}

// allows checks the limits of the field's schema. References and combinations of schemas aren't followed: the MCP's
// forms have none, and a server could write ones that take forever.
func (p *property) allows(value any) error {
	plain := jsonschema.Schema{
		Minimum: p.limits.Minimum, Maximum: p.limits.Maximum, ExclusiveMinimum: p.limits.ExclusiveMinimum, ExclusiveMaximum: p.limits.ExclusiveMaximum,
		MinLength: p.limits.MinLength, MaxLength: p.limits.MaxLength, Pattern: p.limits.Pattern, MinItems: p.limits.MinItems, MaxItems: p.limits.MaxItems,
	}
	if p.kind == "integer" {
		plain.Type = p.kind
	}
	resolved, err := plain.Resolve(nil)
	if err != nil {
		return fmt.Errorf("its limits can't be read: %w", err)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode its value: %w", err)
	}
	var instance any
	if err := json.Unmarshal(data, &instance); err != nil { // numbers as the check knows them
		return fmt.Errorf("read its value: %w", err)
	}
	if err := resolved.Validate(instance); err != nil {
		return err
	}
	if text, is := value.(string); is && !inFormat(p.limits.Format, text) {
		return fmt.Errorf("%q isn't a value of the format %s", text, p.limits.Format)
	}
	return nil
}

// inFormat checks the formats that the MCP has.
func inFormat(format, text string) bool {
	switch format {
	case "email":
		address, err := mail.ParseAddress(text)
		return err == nil && address.Address == text
	case "uri":
		address, err := url.Parse(text)
		return err == nil && address.Scheme != ""
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	case "date-time":
		_, err := time.Parse(time.RFC3339, text)
		return err == nil
	}
	return true
}
