package hold

import (
	"errors"
	"syscall"
	"time"
)

func intoCgroup(string, *syscall.SysProcAttr) (func(), error) { return func() {}, nil }

func endCgroup(string) error { return nil }

// memory has nothing to watch.
type memory struct{ report func(OOMData) }

func (m *memory) begin(string)        {}
func (m *memory) watch()              {}
func (m *memory) look()               {}
func (m *memory) end()                {}
func (m *memory) limitOf() int64      { return 0 }
func (m *memory) killedAt() time.Time { return time.Time{} }

var errNoCgroups = errors.New("macOS has no cgroups")

// CgroupSession is the id of the session in whose cgroup a process is: none.
func CgroupSession(int) (string, error) { return "", nil }

// OwnCgroup is the folder of this process's cgroup.
func OwnCgroup() (string, error) { return "", errNoCgroups }

// CgroupFolder is the folder of a process's cgroup.
func CgroupFolder(string) (string, error) { return "", errNoCgroups }

// Ungroup has nothing to do.
func Ungroup() error { return errNoCgroups }
