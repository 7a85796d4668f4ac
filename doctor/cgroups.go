package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"berth/config"
)

// checkCgroups looks whether limits of the configuration can be kept. Without such limits nothing is amiss
// where sessions have no cgroups.
func checkCgroups(_ context.Context, e *examination) []Result {
	limited := e.limited()
	if e.Cgroups == nil {
		if len(limited) == 0 {
			return ok("no session has limits of memory, processes or processors")
		}
		return ok("only the server knows its cgroups: ask it with: ssh HOST doctor")
	}
	has, err := e.Cgroups()
	switch {
	case err == nil:
		return ok(has)
	case len(limited) == 0:
		return ok("sessions have no cgroups, and no limits that need them: " + err.Error())
	}
	return one(Error, fmt.Sprintf("%s has limits that can't be kept, so its sessions don't start: %v", limited[0], err),
		"run the server by Berth's unit (Delegate=yes) on a system with cgroup v2, or remove the limits")
}

// limited are the parts of the configuration with limits that need a cgroup.
func (e *examination) limited() (fields []string) {
	add := func(field string, l config.SessionLimits) {
		if l.Memory != 0 || l.Processes != 0 || l.CPU != 0 {
			fields = append(fields, field)
		}
	}
	add("defaults", e.Config.Defaults.Limits)
	for _, name := range slices.Sorted(maps.Keys(e.Config.Profiles)) {
		add("the profile "+name, e.Config.Profiles[name].Limits)
	}
	for _, s := range e.Config.Sessions {
		add("the session "+s.Name, s.Limits)
	}
	return fields
}
