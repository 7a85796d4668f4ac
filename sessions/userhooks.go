package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/agent"
	"berth/api"
)

// UserHooks are the settings files of an agent, of the server's OS user, with Berth's hooks in them. With disk false the
// files are as if the user had none yet, so that they have the hooks alone.
func (r *Registry) UserHooks(name string, fromDisk bool) ([]agent.UserFile, error) {
	driver, ok := r.drivers()[name].(agent.HookInstaller)
	if !ok {
		var known []string
		for name, driver := range r.drivers() {
			if _, ok := driver.(agent.HookInstaller); ok {
				known = append(known, name)
			}
		}
		slices.Sort(known)
		return nil, api.Errorf(api.CodeNoDriver, "berth has no hooks for the settings of %s: there are hooks for %s", api.Quote(name), strings.Join(known, ", "))
	}
	spec := Spec{LoginEnv: true}
	e, err := r.options.Environment.of(nil, spec, false)
	if err != nil {
		return nil, err
	}
	env, _, err := e.values(spec)
	if err != nil {
		return nil, err
	}
	hook, err := filepath.EvalSymlinks(r.options.Exe)
	if err != nil {
		return nil, fmt.Errorf("find the program of the hooks: %w", err)
	}
	u := agent.UserSettings{Env: env, Disk: noDisk{}, Hook: hook}
	if fromDisk {
		u.Disk = disk{}
	}
	files, err := driver.UserHooks(u)
	return files, launchErrorOrNil(name, err)
}

func launchErrorOrNil(name string, err error) error {
	if err == nil {
		return nil
	}
	return launchError(name, err)
}

// InstallUserFile writes a file of UserHooks. A link stays a link, and a file keeps its mode. No other file of the user is
// touched.
func (r *Registry) InstallUserFile(f agent.UserFile) error {
	path, mode := f.Path, os.FileMode(0o600)
	switch real, err := filepath.EvalSymlinks(path); {
	case err == nil:
		path = real
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("install hooks: %w", err)
		}
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("install hooks: %w", err)
	default:
		if to, err := os.Readlink(path); err == nil {
			return api.Errorf(api.CodeBadRequest, "%s is a link to %s, which isn't there: create that file or remove the link", api.Quote(path), api.Quote(to))
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("install hooks: %w", err)
	}
	if err := replaceAtRandom(path, f.After, mode); err != nil {
		return fmt.Errorf("install hooks: %w", err)
	}
	return nil
}

// replaceAtRandom replaces a file in one step, by way of a file with a name that no other file has.
func replaceAtRandom(path string, data []byte, mode os.FileMode) error {
	aside, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = aside.Write(data)
	if err = errors.Join(err, aside.Chmod(mode), aside.Close()); err == nil {
		err = os.Rename(aside.Name(), path)
	}
	if err != nil {
		_ = os.Remove(aside.Name())
	}
	return err
}
