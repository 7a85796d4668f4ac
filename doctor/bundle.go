package doctor

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"berth/api"
)

// Bundle writes a tar file for a report. What is in it is listed here, so that nothing gets in because
// it wasn't thought of: the results, the build, and counts. The results name folders, addresses, profiles
// and sessions; no part of it has environments, keys or texts of agents.
func Bundle(w io.Writer, now time.Time, results []Result, counts map[string]any) error {
	build := api.ThisBuild()
	files := map[string]any{
		"doctor.json":  results,
		"version.json": map[string]any{"version": build.Version, "commit": build.Commit, "built_at": build.BuiltAt, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH},
		"counts.json":  counts,
	}
	out := tar.NewWriter(w)
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text, err := json.MarshalIndent(files[name], "", "  ")
		if err != nil {
			return fmt.Errorf("write %s of the bundle: %w", name, err)
		}
		text = append(text, '\n')
		head := &tar.Header{Name: "berth-doctor/" + name, Mode: 0o644, Size: int64(len(text)), ModTime: now}
		if err := out.WriteHeader(head); err != nil {
			return fmt.Errorf("write the bundle: %w", err)
		}
		if _, err := out.Write(text); err != nil {
			return fmt.Errorf("write the bundle: %w", err)
		}
	}
	return out.Close()
}
