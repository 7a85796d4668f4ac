//go:build agents

package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestQuota: a subscription nears its limit and reaches it. Claude then opens a dialog,
// which is a notice. After the notice comes the error.
func TestQuota(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	v := l.plays()
	check(t, os.WriteFile(filepath.Join(l.home.Config, ".credentials.json"), signed(time.Hour), 0o600))
	l.start("quota", v.env(), []string{"--env", "CLAUDE_CODE_MAX_RETRIES=1"})
	l.Is("idle")
	l.ready()

	const unified = "anthropic-ratelimit-unified-"
	reset := fmt.Sprint(time.Now().Add(3 * time.Hour).Unix())
	limits := func(status, used string) {
		v.answersWith(map[string]string{
			unified + "status": status, unified + "reset": reset, unified + "representative-claim": "five_hour",
			unified + "5h-status": status, unified + "5h-utilization": used, unified + "5h-reset": reset, unified + "5h-surpassed-threshold": "0.9",
			unified + "7d-status": "allowed", unified + "7d-utilization": "0.5", unified + "7d-reset": reset,
			unified + "overage-status": "rejected", unified + "overage-disabled-reason": "org_level_disabled",
		})
	}
	limits("allowed_warning", "0.93")
	l.Confirmed("MOCK: text nearly out", "MOCK: text nearly out")
	if !newer(330) {
		l.See("You've used 93% of your session limit") // beside the composer, not in a dialog
	}
	l.Confirmed("MOCK: text the last one", "MOCK: text the last one")

	limits("rejected", "1.0")
	l.send("MOCK: error 429")
	if newer(330) { // it asks nothing, and goes on by itself at that time
		if s := l.Is("parked"); s.Failure == nil || s.Failure.Class != "rate_limited" {
			t.Errorf("at the limit: %+v", s.Failure)
		}
		l.See("Continuing automatically at")
		l.key("Escape")
		l.Gone("Continuing automatically at")
		limits("allowed", "0.1")
		l.Confirmed("MOCK: text all well again", "MOCK: text all well again")
		return
	}
	s := l.Is("prompt")
	if s.Prompt == nil || s.Prompt.Type != "notice" || s.Prompt.Title != "What do you want to do?" || len(s.Prompt.Options) != 2 {
		t.Fatalf("the limit is reported as %+v", s.Prompt)
	}
	l.Respond("keys", "denied", "deny")
	if s := l.Is("parked"); s.Failure == nil || s.Failure.Class != "rate_limited" { // it names the end of the limit
		t.Errorf("after the notice: %+v", s.Failure)
	}
	l.ready()
	if n := l.Nudge("MOCK: error 429 again", "--wait", "--timeout", patient.String()); n.Status != 21 { // it opens the dialog but once
		t.Errorf("%+v %+v", n, n.Error)
	}
	limits("allowed", "0.1")
	l.Confirmed("MOCK: text all well again", "MOCK: text all well again")
}
