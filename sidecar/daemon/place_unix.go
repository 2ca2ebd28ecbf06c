//go:build unix

package daemon

import (
	"fmt"
	"os"
	"os/user"
	"runtime"
	"strconv"
	"syscall"

	"assent/sidecar/base/procinfo"
)

// here returns the place of this process. The home is from the user database, or from HOME if Go cannot read the entry,
// as for users in LDAP.
func here() (place, error) {
	p := place{os: runtime.GOOS, user: strconv.Itoa(os.Geteuid())}
	id, err := procinfo.ID()
	if err != nil {
		return place{}, err
	}
	p.machine = id
	if u, err := user.LookupId(p.user); err == nil {
		p.home = u.HomeDir
	}
	return p, nil
}

// keepPrivate creates a folder, or checks that it belongs to this person and that other users cannot enter it. A
// symbolic link of this person to the folder is allowed. Another user's link, such as one in /tmp, is not: its target
// could change.
func keepPrivate(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create the folder of Assent's daemon: %w: set %s to another folder", err, FolderVariable)
	}
	link, err := os.Lstat(folder)
	if err != nil {
		return fmt.Errorf("look at the folder of Assent's daemon: %w", err)
	}
	info, err := os.Stat(folder)
	if err != nil {
		return fmt.Errorf("look at the folder of Assent's daemon: %w", err)
	}
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder: remove it, or set %s to another folder", folder, FolderVariable)
	case !isOwn(info) || !isOwn(link):
		return fmt.Errorf("the folder %s belongs to another user: remove it, or set %s to another folder", folder, FolderVariable)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("other users may enter the folder %s: run \"chmod 700 %s\"", folder, folder)
	}
	return nil
}

// isOwn reports whether a file belongs to this person.
func isOwn(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
