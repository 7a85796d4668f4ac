package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/api"
)

// ProfileStore keeps the profiles that were made over SSH, each in a file of its own in the state folder. Its caller
// makes one call at a time.
type ProfileStore struct{ Dir string }

// maxProfiles bounds the stored profiles.
const maxProfiles = 200

const profileEnd = ".yaml"

func (s ProfileStore) file(name string) string { return filepath.Join(s.Dir, name+profileEnd) }

// Load reads all profiles. A file that isn't valid is left out, and is among the problems.
func (s ProfileStore) Load() (map[string]Session, []error) {
	out := map[string]Session{}
	list, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, []error{fmt.Errorf("read the stored profiles: %w", err)}
	}
	var problems []error
	for _, entry := range list {
		name, ok := strings.CutSuffix(entry.Name(), profileEnd)
		if !ok || !entry.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(s.file(name))
		if err == nil {
			out[name], err = ParseProfile(s.file(name), name, data)
		}
		if err != nil {
			delete(out, name)
			problems = append(problems, fmt.Errorf("the stored profile %s was left out: %w", api.Quote(name), err))
		}
	}
	return out, problems
}

// Save stores a profile's text, which ParseProfile has accepted.
func (s ProfileStore) Save(name string, data []byte) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of profiles: %w", err)
	}
	list, err := os.ReadDir(s.Dir)
	if err != nil {
		return fmt.Errorf("read the stored profiles: %w", err)
	}
	known := slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == name+profileEnd })
	if !known && len(list) >= maxProfiles {
		return api.Errorf(api.CodeLimit, "%d profiles are stored: the limit is %d. profile rm removes one", len(list), maxProfiles)
	}
	aside := s.file(name) + ".new"
	if err := os.WriteFile(aside, data, 0o600); err != nil {
		return fmt.Errorf("store the profile: %w", err)
	}
	if err := os.Rename(aside, s.file(name)); err != nil {
		return fmt.Errorf("store the profile: %w", err)
	}
	return nil
}

// Remove removes a profile.
func (s ProfileStore) Remove(name string) error {
	if err := os.Remove(s.file(name)); err != nil {
		return fmt.Errorf("remove the profile: %w", err)
	}
	return nil
}

// ParseProfile reads a profile's document. from names it in messages.
func ParseProfile(from, name string, data []byte) (Session, error) {
	if err := CheckProfileName(name); err != nil {
		return Session{}, err
	}
	doc, err := ParseDocument(from, data)
	if err != nil {
		return Session{}, err
	}
	if doc.HasHidden() {
		return Session{}, Problems{{File: from, Text: "a value is " + api.Hidden + ", which is how profile show hides a value", Remedy: "write the value itself"}}
	}
	var v validation
	v.shared("", doc.Session)
	for i := range v.problems {
		v.problems[i].File, v.problems[i].Field = from, strings.TrimPrefix(v.problems[i].Field, ".")
	}
	return doc.Session, Problems(v.problems).orNil()
}

// CheckProfileName leaves room in the names of sessions that are called by their profile.
func CheckProfileName(name string) error {
	if err := api.CheckName(name); err != nil {
		return err
	}
	if len(name) > api.MaxProfile {
		return api.Errorf(api.CodeBadRequest, "the name of a profile has at most %d characters", api.MaxProfile)
	}
	return nil
}

// CheckChildren refuses profiles in the field children that don't exist.
func (c *Config) CheckChildren(from string, s Session) error {
	var v validation
	v.known("", c, s)
	for i := range v.problems {
		v.problems[i].File = from
	}
	return Problems(v.problems).orNil()
}

// With is the configuration with stored profiles. berth.yaml's own come before them.
func (c *Config) With(stored map[string]Session) *Config {
	whole := *c
	whole.Profiles = map[string]Session{}
	for name, p := range stored {
		whole.Profiles[name] = p
	}
	for name, p := range c.Profiles {
		whole.Profiles[name] = p
	}
	return &whole
}
