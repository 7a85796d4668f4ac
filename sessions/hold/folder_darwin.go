package hold

import "path/filepath"

// pinFolder returns dir, or an error if its path without links isn't real. The system has no name for a folder
// that stays when dir changes.
func pinFolder(dir, real string) (name string, unpin func(), err error) {
	is, err := filepath.EvalSymlinks(dir)
	if err == nil {
		err = sameFolder(is, real)
	}
	return dir, func() {}, err
}
