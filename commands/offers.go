package commands

import (
	"context"

	"berth/api"
	"berth/sessions"
)

// Installed lists the agents that the caller may start without a profile. With ask their programs are
// run for their versions. A caller who may only start profiles gets none.
func (s *Service) Installed(ctx context.Context, r Request, ask bool) []sessions.Installed {
	if _, own := s.MayStart(r); !own {
		return nil
	}
	return s.Sessions.Installed(ctx, s.Specs().Defaults, ask)
}

// Folders completes the folder of a new session. Only a caller who may start any command in any folder
// gets an answer, because others could learn from it what they may not read.
func (s *Service) Folders(ctx context.Context, r Request, profile, typed string) (sessions.Folders, error) {
	if _, own := s.MayStart(r); !own {
		return sessions.Folders{}, s.mayOwnCommand(r)
	}
	specs := s.Specs()
	spec := specs.Defaults
	if profile != "" {
		var ok bool
		if spec, ok = specs.Profiles[profile]; !ok {
			return sessions.Folders{}, api.Errorf(api.CodeNotFound, "there is no profile %s", api.Quote(profile))
		}
	}
	return s.Sessions.Folders(ctx, spec, r.Identity(), typed)
}
