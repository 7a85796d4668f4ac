// Package cgroup gives each session a cgroup (v2) with its limits of memory, processes and processors.
//
// A Tree is the part of the hierarchy that the system has delegated to the server:
//
//	ROOT          the server's own cgroup, as it was started; the controllers are enabled here
//	ROOT/server   the server, holders and what the server runs: a cgroup with controllers has no processes
//	ROOT/berth-ID the program of the session ID, and all that descends from it
//
// The holder starts the program in its cgroup and removes that cgroup at its end, because it outlives the
// server (sessions/hold). A Tree only makes it and writes the limits. Where nothing is delegated, a Tree
// says why, and refuses limits with that.
//
// A Tree doesn't change after Open. Its methods may be called concurrently.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"berth/sessions/hold"
)

// Limits bound what the processes of a session use together. Zero sets no bound.
type Limits struct {
	Memory    int64 // bytes
	Processes int   // with threads
	CPU       int64 // thousandths of a processor
}

// Tree is what was delegated to the server.
type Tree struct {
	root string
	has  []string // controllers
	why  error    // nothing is; nil: it is
}

// UnitVariable says in the environment of a systemd service that its unit runs "berth-hold ungroup" after the
// server's end. Without that systemd couldn't start the server again while sessions run.
const UnitVariable = "BERTH_UNGROUPS"

// leaf is the server's own cgroup.
const leaf = "server"

// period is that of cpu.max in microseconds, the kernel's default.
const period = 100_000

// controllers are those that the limits need.
var controllers = []string{"cpu", "memory", "pids"}

// None is a tree of a server to which nothing is delegated.
func None(why error) *Tree { return &Tree{why: why} }

// Open takes the tree: it moves this process to the leaf, and enables the controllers. Probe says why no
// process can be started in a cgroup.
func Open(getenv func(string) string, probe func(path string) error) *Tree {
	t := &Tree{}
	if t.why = t.open(getenv); t.why != nil {
		return t
	}
	if t.why = t.try(probe); t.why == nil {
		t.sweep()
	}
	return t
}

func (t *Tree) open(getenv func(string) string) error {
	own, err := hold.OwnCgroup()
	if err != nil {
		return err
	}
	t.root = own
	if filepath.Base(own) == leaf {
		t.root = filepath.Dir(own)
	}
	if _, err := os.Stat(filepath.Join(t.root, "cgroup.events")); errors.Is(err, fs.ErrNotExist) {
		return errors.New("the server is in the root cgroup, which isn't delegated: start it by its unit, or with systemd-run --scope -p Delegate=yes")
	}
	if strings.HasSuffix(t.root, ".service") && getenv(UnitVariable) == "" {
		return fmt.Errorf("the unit %s isn't prepared for it: take Delegate=, Environment= and ExecStopPost= from Berth's unit (docs/install.md)", filepath.Base(t.root))
	}
	if t.root == own {
		if err := t.move(); err != nil {
			return err
		}
	}
	available, err := os.ReadFile(t.file("cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("read the controllers of %s: %w", t.root, err)
	}
	for _, name := range strings.Fields(string(available)) {
		if !slices.Contains(controllers, name) {
			continue
		}
		if err := write(t.file("cgroup.subtree_control"), "+"+name); err != nil {
			return fmt.Errorf("enable the controller %s in %s: %w", name, t.root, err)
		}
		t.has = append(t.has, name)
	}
	return nil
}

// move takes this process to the leaf, if it is alone.
func (t *Tree) move() error {
	pids, err := os.ReadFile(t.file("cgroup.procs"))
	if err != nil {
		return fmt.Errorf("read the processes of %s: %w", t.root, err)
	}
	if others := slices.DeleteFunc(strings.Fields(string(pids)), func(pid string) bool { return pid == strconv.Itoa(os.Getpid()) }); len(others) > 0 {
		return fmt.Errorf("the cgroup %s isn't the server's alone, because process %s is in it too: start the server by its unit, or with systemd-run --scope -p Delegate=yes", t.root, others[0])
	}
	if err := os.Mkdir(t.file(leaf), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the cgroup %s isn't delegated to the server: set Delegate=yes in its unit: %w", t.root, err)
	}
	if err := write(filepath.Join(t.file(leaf), "cgroup.procs"), strconv.Itoa(os.Getpid())); err != nil {
		return fmt.Errorf("move the server to its cgroup: %w", err)
	}
	return nil
}

// try makes a cgroup, has probe start a process in it, and removes it.
func (t *Tree) try(probe func(path string) error) error {
	path := t.file("probe")
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the cgroup %s isn't delegated to the server: set Delegate=yes in its unit: %w", t.root, err)
	}
	if err := errors.Join(probe(path), hold.EndCgroup(path)); err != nil {
		return fmt.Errorf("no process can be started in a cgroup below %s: %w", t.root, err)
	}
	return nil
}

// sweep removes the cgroups without processes, of programs that have ended with their holders. No program is
// being started yet.
func (t *Tree) sweep() {
	left, _ := filepath.Glob(t.file(hold.CgroupPrefix + "*")) // of a pattern that is right
	for _, path := range left {
		events, err := os.ReadFile(filepath.Join(path, "cgroup.events"))
		if err == nil && strings.Contains(string(events), "populated 0") {
			_ = hold.EndCgroup(path) // one that stays is taken by the session's next program
		}
	}
}

func (t *Tree) file(name string) string { return filepath.Join(t.root, name) }

// Why says why nothing is delegated; nil if it is.
func (t *Tree) Why() error { return t.why }

// String describes the tree.
func (t *Tree) String() string {
	if t.why != nil {
		return t.why.Error()
	}
	if len(t.has) == 0 {
		return fmt.Sprintf("sessions have cgroups below %s, without controllers", t.root)
	}
	return fmt.Sprintf("sessions have cgroups below %s, with the controllers %s", t.root, strings.Join(t.has, ", "))
}

// Check says why limits can't be kept.
func (t *Tree) Check(l Limits) error {
	for _, f := range l.files() {
		if f.limit == "" {
			continue
		}
		if t.why != nil {
			return fmt.Errorf("%s needs a cgroup of the session: %w", f.field, t.why)
		}
		if !slices.Contains(t.has, f.controller) {
			return fmt.Errorf("%s needs the controller %s, which %s doesn't have: it is missing in a cgroup above, or mounted as cgroup v1 (start the kernel with systemd.unified_cgroup_hierarchy=1)",
				f.field, f.controller, t.root)
		}
	}
	return nil
}

// Make makes the cgroup of a session with its limits, or gives an existing one new limits. It returns its folder;
// empty if nothing is delegated.
func (t *Tree) Make(id string, l Limits) (path string, err error) {
	if err := t.Check(l); err != nil || t.why != nil {
		return "", err
	}
	path = t.file(hold.CgroupPrefix + id)
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make the session's cgroup: %w", err)
	}
	return path, t.limit(path, l)
}

// Renew sets the limits of a session again, if it has a cgroup here: they are gone after the controllers
// were taken away.
func (t *Tree) Renew(id string, l Limits) error {
	path := t.file(hold.CgroupPrefix + id)
	if _, err := os.Stat(path); t.why != nil || err != nil {
		return nil
	}
	return t.limit(path, l)
}

func (t *Tree) limit(path string, l Limits) error {
	for _, f := range l.files() {
		limit := f.limit
		if limit == "" {
			limit = "max"
		}
		if !slices.Contains(t.has, f.controller) {
			continue
		}
		err := write(filepath.Join(path, f.name), limit)
		if err != nil && !(f.optional && errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("set %s: %w", f.field, err)
		}
	}
	return nil
}

// limitFile is a file of a cgroup that has a limit.
type limitFile struct {
	field, controller, name string
	limit                   string // empty: none
	optional                bool
}

func (l Limits) files() []limitFile {
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	cpu, swap := "", ""
	if l.CPU != 0 {
		cpu = strconv.FormatInt(l.CPU*period/1000, 10) + " " + strconv.Itoa(period)
	}
	if l.Memory != 0 {
		swap = "0" // else a session beyond its limit would swap, and slow down the whole machine
	}
	return []limitFile{
		{field: "limits.memory", controller: "memory", name: "memory.swap.max", limit: swap, optional: true},
		{field: "limits.memory", controller: "memory", name: "memory.max", limit: number(l.Memory)},
		{field: "limits.processes", controller: "pids", name: "pids.max", limit: number(int64(l.Processes))},
		{field: "limits.cpu", controller: "cpu", name: "cpu.max", limit: cpu},
	}
}

func write(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0) // never made: the kernel makes the files of a cgroup
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
