package sessions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/oklog/ulid/v2"

	"berth/agent"
	"berth/api"
	"berth/keys"
)

// Defaults is what a session is made from when nothing is said.
func Defaults() Spec {
	return Spec{
		LoginEnv: true, Cols: DefaultCols, Rows: DefaultRows, SizePolicy: SizeWriter, Restart: RestartNever,
		Limits: Limits{Output: DefaultOutputLimit, Scrollback: DefaultScrollback},
	}
}

// complete fills in what a caller left out and checks the rest.
func (r *Registry) complete(spec Spec) (Spec, error) {
	if spec.Cols == 0 {
		spec.Cols, spec.Rows = DefaultCols, DefaultRows
	}
	if err := CheckSize(spec.Cols, spec.Rows); err != nil {
		return spec, err
	}
	if spec.SizePolicy == "" {
		spec.SizePolicy = SizeWriter
	}
	if spec.Restart == "" {
		spec.Restart = RestartNever
	}
	if spec.Groom == "" {
		spec.Groom = agent.GroomAuto
	}
	if spec.Isolate == "" {
		spec.Isolate = agent.IsolateHooks
		if spec.Groom == agent.GroomPristine {
			spec.Isolate = agent.IsolateNone
		}
	}
	if spec.Limits.Output <= 0 {
		spec.Limits.Output = DefaultOutputLimit
	}
	if spec.Limits.Scrollback <= 0 {
		spec.Limits.Scrollback = DefaultScrollback
	}
	user, err := r.options.Environment.account(spec)
	if err != nil {
		return spec, err
	}
	home, shell := r.options.Environment.Home, r.options.Environment.Shell
	if user != nil {
		spec.UID, home, shell = user.UID, user.Home, user.Shell
	}
	spec.Cwd = belowHome(spec.Cwd, home)
	if spec, err = r.inferAgent(spec, shell); err != nil {
		return spec, err
	}
	if err := r.options.Cgroups.Check(spec.Limits.cgroup()); err != nil {
		return spec, api.Errorf(api.CodeBadRequest, "%w", err)
	}
	return spec, spec.check()
}

// belowHome makes a folder absolute: none is the home, and a relative one, and one that begins with ~, starts at the
// home of the session's user.
func belowHome(dir, home string) string {
	if dir == "" || dir == "~" {
		return home
	}
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(home, strings.TrimPrefix(dir, "~/"))
}

// New makes a session and starts its program.
func (r *Registry) New(ctx context.Context, spec Spec, by Actor) (*Session, error) {
	spec.UID = 0 // of a fork: its user may have another one now
	spec, err := r.complete(r.likeParent(spec, by))
	if err != nil {
		return nil, err
	}
	if err := r.roomOnDisk(); err != nil {
		return nil, err
	}
	spec.ID = ulid.Make().String()
	inside := by.Identity.Kind == keys.KindAgent
	if inside {
		if spec, err = r.child(ctx, spec, by); err != nil {
			return nil, err
		}
		defer r.births.end(spec.ID)
	}
	if spec.Name, err = r.reserve(spec); err != nil {
		return nil, err
	}
	forget := func() {
		r.mu.Lock()
		delete(r.names, spec.Name)
		r.mu.Unlock()
	}
	if !inside && !by.Identity.Sees(spec.Name, spec.Tags) {
		forget()
		return nil, by.Identity.Denied("new", spec.Name)
	}
	if err := r.mayCause(by, eventsOfStart); err != nil {
		forget()
		return nil, err
	}
	spec.Created, spec.CreatedBy = api.At(r.now()), by.Identity.Name
	s, err := r.start(ctx, spec, by)
	if err != nil {
		forget()
		return nil, err
	}
	// One turn of the loop: the program's start is then on record.
	return s, s.do(ctx, func(*core) {})
}

// reserve takes the session's name, or makes one.
func (r *Registry) reserve(spec Spec) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop {
		return "", errStopped
	}
	if spec.Name != "" {
		if err := api.CheckName(spec.Name); err != nil {
			return "", err
		}
		if _, taken := r.names[spec.Name]; taken {
			return "", api.Errorf(api.CodeBadRequest, "there is a session %s already: choose another name, or rm that one", spec.Name).With("session", spec.Name)
		}
		r.names[spec.Name] = nil
		return spec.Name, nil
	}
	base := spec.Profile
	if base == "" {
		base = "session"
	}
	if len(base) > api.MaxProfile {
		base = base[:api.MaxProfile]
	}
	for {
		var salt [2]byte
		_, _ = rand.Read(salt[:]) // never fails
		name := base + "-" + hex.EncodeToString(salt[:])
		if _, taken := r.names[name]; !taken {
			r.names[name] = nil
			return name, nil
		}
	}
}

// start makes the session's folder, starts its holder and its loop. On failure
// nothing of it is left.
func (r *Registry) start(ctx context.Context, spec Spec, by Actor) (_ *Session, err error) {
	dir := filepath.Join(r.sessionsDir(), spec.ID)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the session's folder: %w", err)
	}
	c := r.newCore(spec, dir)
	defer func() {
		if err != nil {
			err = errors.Join(err, r.undo(context.WithoutCancel(ctx), c.spec, c.s))
		}
	}()
	if err := saveSpec(dir, spec); err != nil {
		return nil, err
	}
	if err := c.makeTree(ctx); err != nil {
		return nil, err
	}
	spec = c.spec
	if spec.Prompt != "" {
		if err := c.outbox.EnqueueFirst(by, spec.Prompt); err != nil {
			return nil, err
		}
	}
	_, _ = c.kernel.Screen.Restore(nil) // an empty one never fails
	c.kernel.Save()                     // what the event log says from here on concerns this session
	prog, err := r.options.Environment.resolve(spec)
	if err != nil {
		return nil, err
	}
	prog, launch, err := c.s.prepare(spec, prog)
	if err != nil {
		return nil, err
	}
	c.spec = launched(c.spec, launch)
	if err := saveSpec(dir, c.spec); err != nil {
		return nil, err
	}
	if err := r.beginStart(); err != nil {
		return nil, err
	}
	defer r.starts.Done()
	defer r.launched(spec.ID)
	if err := r.apart(c.spec); err != nil {
		return nil, err
	}
	link, err := c.s.launch(ctx, spec, prog)
	if err != nil {
		return nil, err
	}
	c.kernel.Journal.Hold(link)
	c.life.Hold(link.Welcome())
	r.run(c)
	return c.s, nil
}
