package api

import (
	"encoding/json"
	"runtime/debug"
	"testing"
)

func TestBuildOf(t *testing.T) {
	checkout := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "c0ffee"}, {Key: "vcs.time", Value: "2026-11-24T10:00:00Z"}}
	for _, c := range []struct {
		name                               string
		release, commit, committed, module string
		settings                           []debug.BuildSetting
		want                               string
	}{
		{"make", "0.2.0", "bead", "2026-11-25T12:00:00+02:00", "v0.2.0-0.20261124", checkout, `{"Version":"0.2.0","Commit":"bead","BuiltAt":"2026-11-25T10:00:00.000Z"}`},
		{"make in an archive of the source", "0.2.0", "", "", "(devel)", nil, `{"Version":"0.2.0","Commit":null,"BuiltAt":null}`},
		{"go build", "", "", "", "v0.2.0-0.20261124", checkout, `{"Version":"0.2.0-0.20261124","Commit":"c0ffee","BuiltAt":"2026-11-24T10:00:00.000Z"}`},
		{"go install of a release", "", "", "", "v0.2.0", nil, `{"Version":"0.2.0","Commit":null,"BuiltAt":null}`},
		{"go test", "", "", "", "(devel)", nil, `{"Version":"devel","Commit":null,"BuiltAt":null}`},
		{"nothing recorded", "", "", "", "", nil, `{"Version":"devel","Commit":null,"BuiltAt":null}`},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings}
		got, err := json.Marshal(buildOf(c.release, c.commit, c.committed, info))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}
