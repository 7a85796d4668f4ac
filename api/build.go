package api

import (
	"runtime/debug"
	"strings"
	"time"
)

// The Makefile sets these: release to what packaging/version prints, commit to git's full name of the
// source, and committed to its time in RFC 3339.
var release, commit, committed string

// Build says which source this program is made of.
type Build struct {
	Version string  // semantic; without the Makefile it is Go's name for the module's version
	Commit  *string // git's full name; nil: not built from a git checkout
	BuiltAt Time    // the commit's time, so that two builds of a commit are the same
}

// ThisBuild reads what the Go toolchain recorded in this program.
func ThisBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(release, commit, committed, info)
}

func buildOf(version, commit, committed string, info *debug.BuildInfo) Build {
	if version == "" {
		version = strings.TrimPrefix(info.Main.Version, "v")
	}
	if version == "" || version == "(devel)" {
		version = "devel"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && commit == "":
			commit = s.Value
		case s.Key == "vcs.time" && committed == "":
			committed = s.Value
		}
	}
	b := Build{Version: version}
	if commit != "" {
		b.Commit = &commit
	}
	if at, err := time.Parse(time.RFC3339, committed); err == nil {
		b.BuiltAt = At(at)
	}
	return b
}
