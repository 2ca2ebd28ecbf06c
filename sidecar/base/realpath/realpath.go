// Package realpath compares folders by where they really are.
package realpath

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Of returns a path without symbolic links. What it names may not exist yet: the folders above it are resolved then. A path
// that cannot be resolved stays, without "." and "..".
func Of(path string) string {
	path = filepath.Clean(path)
	whole, err := filepath.EvalSymlinks(path)
	if parent := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && parent != path {
		return filepath.Join(Of(parent), filepath.Base(path))
	}
	if err != nil {
		return path
	}
	return whole
}
