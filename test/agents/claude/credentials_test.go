//go:build agents

package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSharedCredentials: sessions with homes of their own use the user's sign-in.
// One of them renews it in the user's own file, and the other uses the renewed one.
func TestSharedCredentials(t *testing.T) {
	l := newStartLab(t, Seed{}, nil)
	v := l.plays()
	theirs := filepath.Join(l.home.Config, ".credentials.json")
	check(t, os.WriteFile(theirs, signed(-time.Minute), 0o600))
	for _, name := range []string{"one", "two"} {
		l.start(name, v.env(), []string{"--isolate", "full", "--trust"})
		s := l.with(name)
		s.Is("idle")
		s.ready()
		s.send("MOCK: text by subscription, " + name)
		s.See("● by subscription, " + name)
		s.Is("idle")
		if _, err := os.Lstat(filepath.Join(filepath.Dir(l.home.Dir), "state", "sessions", s.info().ID, "claude", ".credentials.json")); !os.IsNotExist(err) {
			t.Errorf("%s has credentials of its own: %v", name, err)
		}
	}
	var now struct {
		OAuth struct{ AccessToken, RefreshToken string } `json:"claudeAiOauth"`
	}
	data, err := os.ReadFile(theirs)
	check(t, err)
	check(t, json.Unmarshal(data, &now))
	if now.OAuth.AccessToken != "sk-ant-oat01-lab-1" || now.OAuth.RefreshToken != "sk-ant-ort01-lab-1" {
		t.Errorf("the user's sign-in is %+v", now.OAuth)
	}
	if stat, err := os.Lstat(theirs); err != nil || !stat.Mode().IsRegular() || stat.Mode().Perm() != 0o600 {
		t.Errorf("the user's file is %v, %v", stat, err)
	}
	if grants := v.granted(); len(grants) != 1 || grants[0]["refresh_token"] != "sk-ant-ort01-lab-0" {
		t.Errorf("renewed by %v", grants)
	}
}
