//go:build !linux

package audit

import "os"

// reserveTo does nothing: only Linux has a call for it that keeps the file's length.
func reserveTo(*os.File, int64) {}
