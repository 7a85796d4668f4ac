package sessions

import (
	"context"
	"errors"
	"testing"
	"time"

	"berth/keys"
	"berth/sessions/worktree"
)

// TestSlots: a caller waits for the slots of its own key alone, and no longer than its context. No key is kept.
func TestSlots(t *testing.T) {
	var of slots[string]
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	one, err := of.enter(t.Context(), "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	other, err := of.enter(t.Context(), "b", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := of.enter(canceled, "a", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a is taken: %v", err)
	}
	waits := make(chan func())
	go func() {
		leave, err := of.enter(t.Context(), "a", 1)
		if err != nil {
			t.Error(err)
		}
		waits <- leave
	}()
	one()
	(<-waits)()
	other()
	if len(of.of) > 0 {
		t.Errorf("%d keys are left", len(of.of))
	}
}

// TestFoldersOfManyCallers: folders that don't answer hold up those who ask for them, and no other caller.
func TestFoldersOfManyCallers(t *testing.T) {
	p := open(t)
	by := keys.Identity{Kind: keys.KindKey, Name: "one", Role: keys.Admin}
	release := make(chan struct{})
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	for range foldersAtOnce {
		started := make(chan struct{})
		gave := make(chan error, 1)
		go func() {
			_, err := answered(ctx, &p.reg.trees.folders, folderAsker{by.Share(), ownUID}, nil, func() (struct{}, error) {
				close(started)
				<-release
				return struct{}{}, nil
			})
			gave <- err
		}()
		<-started
		defer func() { <-gave }()
	}
	cancel() // the callers have left, and the folders don't answer yet
	if _, err := p.reg.Folders(ctx, Defaults(), by, "/"); !errors.Is(err, context.Canceled) {
		t.Errorf("more than one caller may ask: %v", err)
	}
	by.Name = "other"
	inTime, end := context.WithTimeout(t.Context(), patience)
	defer end()
	found, err := p.reg.Folders(inTime, Defaults(), by, "/")
	if err != nil || !found.Exists {
		t.Errorf("%+v %v", found, err)
	}
}

// TestRowsOfSlowGit: rows that git doesn't answer for are there without what it says.
func TestRowsOfSlowGit(t *testing.T) {
	p := open(t)
	dir := p.repository()
	one := Worktree{ID: "one", Session: "one", Tree: worktree.Tree{Phase: worktree.Ready, Repo: dir, Path: dir, Base: "HEAD"}}
	rows := p.reg.TreeRows(t.Context(), []Worktree{one}, patience)
	if len(rows) != 1 || rows[0].Branch == nil || *rows[0].Branch != "main" {
		t.Fatalf("%+v", rows)
	}
	for range looksAtOnce { // git runs there, and doesn't end
		leave, err := p.reg.trees.looks.enter(t.Context(), ownUID, looksAtOnce)
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
	rows = p.reg.TreeRows(t.Context(), []Worktree{one, one}, time.Millisecond)
	if len(rows) != 2 || rows[1].Path != dir || rows[1].Branch != nil {
		t.Errorf("%+v", rows)
	}
}

// TestSlotsAreForgotten: callers who have left take no memory.
func TestSlotsAreForgotten(t *testing.T) {
	var s slots[string]
	leave, err := s.enter(t.Context(), "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.enter(gone, "a", 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	leave()
	if len(s.of) > 0 {
		t.Errorf("%d are left", len(s.of))
	}
}
