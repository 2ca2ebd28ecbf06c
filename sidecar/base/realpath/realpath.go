// Package realpath compares folders by where they really are.
package realpath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks bounds the links that are followed to what does not exist. Those to what exists are the system's to count.
const maxLinks = 40

// Of returns a path without symbolic links. What it names may not exist yet: the folders above it are resolved then, and a link
// to it leads there. A path that cannot be resolved stays, without "." and "..".
func Of(path string) string { return of(path, maxLinks) }

func of(path string, links int) string {
	path = filepath.Clean(path)
	whole, err := filepath.EvalSymlinks(path)
	parent := filepath.Dir(path)
	switch {
	case err == nil:
		return whole
	case !errors.Is(err, fs.ErrNotExist) || parent == path:
		return path
	}
	folder := of(parent, links)
	to, err := os.Readlink(path)
	switch {
	case err != nil || links == 0:
		return filepath.Join(folder, filepath.Base(path))
	case filepath.IsAbs(to):
		return of(to, links-1)
	}
	return of(filepath.Join(folder, to), links-1)
}
