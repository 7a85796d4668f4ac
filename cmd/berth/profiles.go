package main

import (
	"maps"
	"slices"
	"sync"

	"berth/api"
	"berth/commands"
	"berth/config"
)

// profileStore has the profiles that were made over SSH.
type profileStore struct {
	mu     sync.Mutex // of all, and of making the server's specs from them
	files  config.ProfileStore
	stored map[string]config.Session
}

// loadProfiles reads the stored profiles again and makes what new starts sessions from.
func (s *server) loadProfiles() (problems []error) {
	p := &s.profiles
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stored, problems = p.files.Load()
	now := s.now.Load()
	for _, name := range slices.Sorted(maps.Keys(p.stored)) {
		if _, own := now.Profiles[name]; own {
			problems = append(problems, api.Errorf(api.CodeBadRequest, "berth.yaml has a profile %s too, and that one is used: remove the stored one with profile rm", name))
		}
	}
	if err := s.storeSpecs(p.stored); err != nil {
		problems = append(problems, err)
	}
	for _, err := range problems {
		s.log.Warn("a stored profile", "problem", err)
	}
	return problems
}

// storeSpecs makes what new starts sessions from. p.mu is held.
func (s *server) storeSpecs(stored map[string]config.Session) error {
	specs, err := specsOf(s.now.Load().With(stored))
	if err == nil {
		s.specs.Store(specs)
	}
	return err
}

// profileVerbs is what the verb profile does.
func (s *server) profileVerbs() commands.Profiles {
	p := &s.profiles
	row := func(name string) (commands.Profile, bool) {
		one, own := s.now.Load().Profiles[name]
		if !own {
			var ok bool
			if one, ok = p.stored[name]; !ok {
				return commands.Profile{}, false
			}
		}
		source := map[bool]string{true: "berth.yaml", false: "stored"}[own]
		return commands.Profile{Profile: name, Source: source, ReadOnly: own, Fields: one.Plain()}, true
	}
	unknown := func(name string) error {
		return api.Errorf(api.CodeNotFound, "there is no profile %s: profile ls lists the profiles", api.Quote(name)).With("profile", name)
	}
	readOnly := func(name string) error {
		if _, own := s.now.Load().Profiles[name]; own {
			return api.Errorf(api.CodeBadRequest, "the profile %s is berth.yaml's own: change it there, and reload", name).With("profile", name)
		}
		return nil
	}
	return commands.Profiles{
		List: func() []commands.Profile {
			p.mu.Lock()
			defer p.mu.Unlock()
			list := []commands.Profile{}
			for _, name := range slices.Sorted(maps.Keys(s.now.Load().With(p.stored).Profiles)) {
				one, _ := row(name)
				list = append(list, one)
			}
			return list
		},
		Show: func(name string) (commands.Profile, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			one, ok := row(name)
			if !ok {
				return one, unknown(name)
			}
			return one, nil
		},
		Set: func(name string, data []byte) (commands.Profile, error) {
			one, err := config.ParseProfile("stdin", name, data)
			if err != nil {
				return commands.Profile{}, refused("the profile isn't valid", err)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if err := readOnly(name); err != nil {
				return commands.Profile{}, err
			}
			next := maps.Clone(p.stored)
			next[name] = one
			if err := s.now.Load().With(next).CheckChildren("stdin", one); err != nil {
				return commands.Profile{}, refused("the profile isn't valid", err)
			}
			if err := p.files.Save(name, data); err != nil {
				return commands.Profile{}, err
			}
			p.stored = next
			if err := s.storeSpecs(next); err != nil {
				return commands.Profile{}, err
			}
			made, _ := row(name)
			return made, nil
		},
		Remove: func(name string) (commands.Profile, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			one, ok := row(name)
			if _, stored := p.stored[name]; !stored {
				if !ok {
					return one, unknown(name)
				}
				return one, readOnly(name)
			}
			if err := p.files.Remove(name); err != nil {
				return one, err
			}
			next := maps.Clone(p.stored)
			delete(next, name)
			p.stored = next
			return one, s.storeSpecs(next)
		},
	}
}
