package codex_test

import (
	"testing"

	"berth/agent/codex"
)

func TestApprovalPolicy(t *testing.T) {
	for context, want := range map[string]string{
		`{"approval_policy":"on-request","sandbox_policy":{"type":"workspace-write","network_access":false}}`: "on-request/workspace-write",
		`{"approval_policy":"never","sandbox_policy":{"type":"danger-full-access"}}`:                          "never/danger-full-access",
		`{"approval_policy":{"granular":{"rules":true}},"sandbox_policy":{"type":"read-only"}}`:               "granular/read-only",
		`{"approval_policy":"on-request"}`:                              "",
		`{"approval_policy":"on-request","sandbox_policy":"read-only"}`: "",
		`{"sandbox_policy":{"type":"read-only"}}`:                       "",
	} {
		facts, err := codex.Driver{}.Log([]byte(`{"type":"turn_context","payload":` + context + `}`))
		if err != nil || facts[0].Mode != want {
			t.Errorf("%s: %+v, %v", context, facts, err)
		}
	}
}
