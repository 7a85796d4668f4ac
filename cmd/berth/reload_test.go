package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"berth/config"
)

func TestChanged(t *testing.T) {
	was := config.Default()
	now := config.Default()
	if applied, waiting := changed(&was, &now); applied != nil || waiting != nil {
		t.Errorf("the same differs: %q %q", applied, waiting)
	}
	now.LogLevel, now.Listen, now.Clipboard, now.File = "debug", "127.0.0.1:1", config.ClipboardAll, "another"
	now.Retention.Keep, now.Retention.Audit, now.Limits.EnvBytes = 1, 1, 1
	now.Profiles = map[string]config.Session{"web": {}}
	applied, waiting := changed(&was, &now)
	if strings.Join(applied, " ") != "log_level clipboard retention.keep profiles" || strings.Join(waiting, " ") != "listen limits.env_bytes retention.audit" {
		t.Errorf("applied %q, waiting %q", applied, waiting)
	}
}

// Every field that is said to be applied is one of berth.yaml.
func TestReloadedAreFields(t *testing.T) {
	var names []string
	for field := range reflect.TypeFor[config.Config]().Fields() {
		names = append(names, field.Tag.Get("yaml"))
	}
	for field := range reflect.TypeFor[config.Retention]().Fields() {
		names = append(names, "retention."+field.Tag.Get("yaml"))
	}
	for _, name := range reloaded {
		if !slices.Contains(names, name) {
			t.Errorf("there is no field %s", name)
		}
	}
}
