package detect

import (
	"cmp"
	"path"

	"berth/agent"
)

// inFolder adds to a command's fact the folder that the command runs in, where that isn't the session's: the command before may have
// left it, and no dialog draws it. Like other fields that no dialog draws, it is in the prompt's text, and two calls that differ in it
// are two prompts.
func (f *Fold) inFolder(fact *agent.Fact) {
	teller, ok := f.driver.(agent.FolderTeller)
	if !ok || fact.Folder == "" {
		return
	}
	folder := path.Clean(fact.Folder)
	if f.mayMove(fact) {
		folder = ""
	}
	*fact = *teller.InFolder(fact, folder, folder == cmp.Or(f.o.RealDir, path.Clean(f.o.Dir)))
}

// mayMove reports whether a command of the same message may change the folder of a logged one before that runs. A hook comes when it is
// about to run, and has its folder.
func (f *Fold) mayMove(fact *agent.Fact) bool {
	if fact.Source != agent.SourceLog || f.m.Hooked {
		return false
	}
	for _, c := range f.m.Calls {
		if c.Moves && c.Agent == fact.Agent && c.ID != fact.Call {
			return true
		}
	}
	return false
}
