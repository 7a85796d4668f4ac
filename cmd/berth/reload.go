package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/agent"
	"berth/agent/generic/rules"
	"berth/api"
	"berth/commands"
	"berth/config"
	"berth/keys"
	"berth/sessions/notify/post"
)

// reloaded are the fields of berth.yaml that a running server applies at SIGHUP and by the verb reload. All others take
// effect at the next start.
var reloaded = []string{
	"log_level", "stop_sessions", "new", "prefix", "public_host", "worktrees", "clipboard", "retention.ended", "retention.keep", "retention.total",
	"notify", "rules", "defaults", "profiles", "sessions",
}

// rereadEvery is how often berth.yaml is checked for changed rules. A check is one system call,
// and the author of a rule waits for it.
const rereadEvery = time.Second

// reloadCall is a caller of the verb reload, who waits for the answer.
type reloadCall chan<- reloadAnswer

type reloadAnswer struct {
	commands.Reloaded
	err error
}

// askReload asks the goroutine of followFiles for a reload. A caller that goes away doesn't
// interrupt it.
func (s *server) askReload(ctx context.Context) (commands.Reloaded, error) {
	answer := make(chan reloadAnswer, 1)
	select {
	case s.reloads <- answer:
	case <-ctx.Done():
		return commands.Reloaded{}, ctx.Err()
	}
	select {
	case a := <-answer:
		return a.Reloaded, a.err
	case <-ctx.Done():
		return commands.Reloaded{}, ctx.Err()
	}
}

// followFiles applies the rules of berth.yaml when the file changes, and at each SIGHUP and each
// call of the verb reload all that can be applied, until stop is called.
func (s *server) followFiles(source config.Source, hangups <-chan os.Signal) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(rereadEvery)
		defer tick.Stop()
		text, _ := os.ReadFile(source.Path) // an unreadable file is logged when it changes
		var seen os.FileInfo
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				text, _ = os.ReadFile(source.Path)
				_, _ = s.reload(ctx, source) // it is in the log
				continue
			case caller := <-s.reloads:
				text, _ = os.ReadFile(source.Path)
				r, err := s.reload(ctx, source)
				caller <- reloadAnswer{r, err}
				continue
			case <-tick.C:
			}
			if source.Path == "" {
				continue
			}
			info, err := os.Stat(source.Path)
			if err != nil || seen != nil && info.ModTime().Equal(seen.ModTime()) && info.Size() == seen.Size() {
				continue
			}
			seen = info
			if now, err := os.ReadFile(source.Path); err == nil && !bytes.Equal(now, text) {
				text = now
				s.rereadRules(ctx, source)
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// rereadRules reads the configuration again and applies its rules. An invalid file changes
// nothing.
func (s *server) rereadRules(ctx context.Context, source config.Source) {
	c, err := config.Load(source)
	if err != nil {
		s.log.Error("berth.yaml has changed and is invalid: the rules are unchanged", "error", err)
		return
	}
	if err := s.takeRules(ctx, c); err != nil {
		s.log.Error("the rules of berth.yaml couldn't be applied", "error", err)
		return
	}
	s.log.Info("berth.yaml has changed: its rules apply now, the rest at SIGHUP or at the next start", "rules", s.ruleset.Names())
}

// takeRules applies the rules of a configuration.
func (s *server) takeRules(ctx context.Context, c *config.Config) error {
	ruleset, err := rules.Compile(c.Rules, s.ruleset)
	if err != nil {
		return err
	}
	if err := s.sessions.SetDrivers(ctx, driversWith(ruleset)); err != nil {
		return err
	}
	s.ruleset = ruleset
	now := *s.now.Load()
	now.Rules = c.Rules
	s.now.Store(&now)
	return nil
}

// reload reads the key files and applies what a running server can apply of berth.yaml. The
// answer, which is also in the log, says what was applied and what needs a restart. An invalid
// file changes nothing.
func (s *server) reload(ctx context.Context, source config.Source) (commands.Reloaded, error) {
	s.keys.Reload() // it logs the errors in them itself
	next, err := config.Load(source)
	if err != nil {
		s.log.Error("reload refused: berth.yaml is invalid, and none of it was applied; the key files were read again", "error", err)
		return commands.Reloaded{}, invalid(err)
	}
	if _, err := specsOf(next); err != nil {
		s.log.Error("reload refused: none of berth.yaml was applied; the key files were read again", "error", err)
		return commands.Reloaded{}, invalid(err)
	}
	applied, waiting := changed(s.now.Load(), next)
	if s.level.Level() != next.Level() && !slices.Contains(applied, "log_level") { // the verb log changed it
		applied = append(applied, "log_level")
	}
	if slices.Contains(applied, "rules") {
		if err := s.takeRules(ctx, next); err != nil {
			s.log.Error("reload refused: the rules couldn't be applied, and none of berth.yaml was", "error", err)
			return commands.Reloaded{}, invalid(err)
		}
	}
	now := *s.now.Load()
	now.LogLevel, now.StopSessions, now.New, now.Notify = next.LogLevel, next.StopSessions, next.New, next.Notify
	now.Defaults, now.Profiles, now.Sessions = next.Defaults, next.Profiles, next.Sessions
	now.Prefix, now.PublicHost, now.Worktrees, now.Clipboard = next.Prefix, next.PublicHost, next.Worktrees, next.Clipboard
	now.Retention.Ended, now.Retention.Keep, now.Retention.Total = next.Retention.Ended, next.Retention.Keep, next.Retention.Total
	s.now.Store(&now)
	s.level.Set(now.Level())
	stored := s.loadProfiles()
	s.sessions.Configure(settingsOf(&now))
	if slices.Contains(applied, "notify") || slices.Contains(applied, "public_host") {
		s.poster.Load().Close()
		s.startPoster()
	}
	later, problems := s.followConfig(ctx)
	s.edge.Review() // agents of sessions whose children changed
	waiting = append(waiting, later...)
	problems = append(append(stored, problems...), s.startSessions(ctx)...)
	for _, p := range s.keys.Problems() {
		if p.Kind != keys.Notice && p.Kind != keys.Absent {
			problems = append(problems, errors.New(p.String()))
		}
	}
	s.log.Info("reloaded: the key files were read again", "file", next.File, "applied", list(applied), "needs_restart", list(waiting))
	r := commands.Reloaded{Applied: append([]string{}, applied...), NeedsRestart: append([]string{}, waiting...), Problems: []string{}}
	if next.File != "" {
		r.File = &next.File
	}
	for _, p := range problems {
		r.Problems = append(r.Problems, p.Error())
	}
	return r, nil
}

// invalid is the answer about a berth.yaml that can't be applied, with the place of each mistake.
func invalid(err error) error { return refused("none of berth.yaml was applied", err) }

// refused is the answer about text that isn't valid, with the place of each mistake.
func refused(what string, err error) error {
	e := api.Errorf(api.CodeBadRequest, "%s: %s", what, strings.ReplaceAll(err.Error(), "\n", " / "))
	var problems config.Problems
	if !errors.As(err, &problems) {
		return e
	}
	list := []map[string]any{}
	for _, p := range problems {
		if !p.Notice {
			list = append(list, map[string]any{"file": p.File, "line": p.Line, "column": p.Column, "field": p.Field, "message": p.Text, "remedy": p.Remedy})
		}
	}
	return e.With("problems", list)
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}

// changed are the fields that differ between two configurations: first those that a running
// server applies, then those that wait for the next start.
func changed(was, now *config.Config) (applied, waiting []string) {
	for _, name := range changedFields(reflect.ValueOf(*was), reflect.ValueOf(*now), "") {
		if slices.Contains(reloaded, name) {
			applied = append(applied, name)
		} else {
			waiting = append(waiting, name)
		}
	}
	return applied, waiting
}

// changedFields are the names of the fields that differ. Those of retention and limits are named one by one.
func changedFields(a, b reflect.Value, prefix string) (list []string) {
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case name == "-", name == "", reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()):
		case name == "retention", name == "limits":
			list = append(list, changedFields(a.Field(i), b.Field(i), name+".")...)
		default:
			list = append(list, prefix+name)
		}
	}
	return list
}

// specsOf are what new can start sessions from.
func specsOf(c *config.Config) (*commands.Specs, error) {
	list, err := profiles(c)
	if err != nil {
		return nil, err
	}
	base, err := defaults(c)
	return &commands.Specs{Profiles: list, Defaults: base}, err
}

// startPoster starts notifications by the current rules.
func (s *server) startPoster() {
	s.poster.Store(post.Start(post.Options{
		Sessions: s.sessions, Rules: config.Rules(s.now.Load().Notify), File: filepath.Join(s.config.StateDir, "notify.json"),
		SSH: "ssh " + s.address(), Version: api.ThisBuild().Version, Log: s.log, Now: time.Now,
	}))
}

// notify is what the verb notify does.
func (s *server) notify() commands.Notify {
	starting := errors.New("the server is still starting")
	return commands.Notify{
		List: func() ([]commands.NotifyRule, error) {
			p := s.poster.Load()
			if p == nil {
				return nil, starting
			}
			list := []commands.NotifyRule{}
			for _, l := range p.List() {
				list = append(list, s.notifyRule(l))
			}
			return list, nil
		},
		Test: func(ctx context.Context, rule string) (service string, known []string, err error) {
			p := s.poster.Load()
			if p == nil {
				return "", nil, starting
			}
			service, err = p.Test(ctx, rule)
			if errors.Is(err, post.ErrNoRule) {
				return "", p.Names(), nil
			}
			return service, nil, err
		},
	}
}

func (s *server) notifyRule(l post.Listed) commands.NotifyRule {
	all := func(list []string) []string { return append([]string{}, list...) }
	r := commands.NotifyRule{Rule: l.Rule, Service: l.Service, On: all(l.On), Sessions: all(l.Sessions), Tags: all(l.Tags)}
	if l.Last != nil {
		r.Last = &commands.NotifyResult{At: l.Last.At, Kind: l.Last.Kind, Sent: l.Last.Error == ""}
		if !r.Last.Sent {
			r.Last.Error = &l.Last.Error
		}
		if of, ok := s.sessions.Find(l.Last.Session); ok {
			r.Last.Session, r.Last.ID = agent.Pointer(of.Status().Name), agent.Pointer(of.ID())
		}
	}
	return r
}
