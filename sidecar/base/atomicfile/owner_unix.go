//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// owner is a file's user and group.
type owner struct{ user, group int }

func ownerOf(info fs.FileInfo) owner {
	stat := info.Sys().(*syscall.Stat_t)
	return owner{int(stat.Uid), int(stat.Gid)}
}

// hasHardLinks reports whether a file has more names than one.
func hasHardLinks(info fs.FileInfo) bool { return info.Sys().(*syscall.Stat_t).Nlink > 1 }

// canStay reports whether a new file of this process can have the user: root can give a file away.
func (o owner) canStay() bool { return o.user == os.Geteuid() || os.Geteuid() == 0 }

// give gives a new file the user and the group. A group that the person has left is lost.
func (o owner) give(f *os.File) error {
	err := f.Chown(o.user, o.group)
	if o.user == os.Geteuid() {
		return nil
	}
	return err
}
