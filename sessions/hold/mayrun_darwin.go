package hold

import "golang.org/x/sys/unix"

// mayRun reports whether the file system of dir lets programs be run.
func mayRun(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) != nil || fs.Flags&unix.MNT_NOEXEC == 0
}
