package commands

import "testing"

// TestConversationID: what agents may report as the id of their conversation, and people may type as a name.
func TestConversationID(t *testing.T) {
	for word, want := range map[string]bool{
		"11111111-2222-4333-8444-55555555abcd":   true,
		"ses_5f0c2a9b1ffeQmZ8XkT4vLw2pR":         true,
		"production-web-server-1":                false,
		"firstname.lastname":                     false,
		"11111111-2222-4333-8444-55555555abcg":   false,
		"11111111-2222-4333-8444-55555555abcd\n": false,
		"ses_short":                              false,
	} {
		if got := conversationID.MatchString(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}
