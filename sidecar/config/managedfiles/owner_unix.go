//go:build unix

package managedfiles

import (
	"io/fs"
	"syscall"
)

// isOwnedByRoot reports whether a file is root's. It is so if the owner is not known.
func isOwnedByRoot(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Uid == 0
}
