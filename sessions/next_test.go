package sessions

import (
	"slices"
	"strings"
	"testing"

	"berth/agent"
	"berth/api"
)

// reporting is an asker whose title reports that it asks something else too.
type reporting struct{ asker }

func (d reporting) Title(title string) []agent.Fact {
	if title != "another" {
		return d.asker.Title(title)
	}
	second := "2"
	return []agent.Fact{{Kind: agent.Asked, Source: agent.SourceHook, Cause: "hook:asks", Request: &agent.Request{
		Type: agent.PromptPermission, Title: &second, Options: []string{"Yes"}, Ready: true, Channel: agent.ChannelKeys,
	}}}
}

func (d reporting) Table() agent.Table {
	t := d.asker.Table()
	t[agent.MoveAsk] = append([]agent.Witness{{Source: agent.SourceHook}}, t[agent.MoveAsk]...)
	return t
}

// TestFormBesideAPrompt: a server can withdraw its form in the moment of a key. So a form takes none while another reported prompt
// waits, whose dialog would be next. The error names that one.
func TestFormBesideAPrompt(t *testing.T) {
	_, s := newAskerOf(t, reporting{}, `\033]2;another\007asks 1: form`)
	var form, other string
	within(t, s, "both prompts", func(st *Status) bool {
		if len(st.Requests) < 2 {
			return false
		}
		at := slices.IndexFunc(st.Requests, func(r *agent.Request) bool { return r.Type == agent.PromptForm })
		if at < 0 {
			return false
		}
		form, other = st.Requests[at].ID, st.Requests[1-at].ID
		return true
	})
	r, err := s.Respond(t.Context(), claim("c1"), form, agent.Answer{Kind: agent.Accept})
	if r != nil || code(err) != string(api.CodeNotReady) || !strings.Contains(err.Error(), "another prompt waits") || !strings.Contains(err.Error(), "--prompt "+other) {
		t.Errorf("%+v, %v", r, err)
	}
	if now := s.Status(); len(now.Requests) != 2 {
		t.Errorf("after that %d prompts are open", len(now.Requests))
	}
}
