//go:build unix

package cmd

import "os"

// parent returns what reports whether the parent is alive: an orphan is given another one.
func parent() (alive func() bool, err error) {
	pid := os.Getppid()
	return func() bool { return os.Getppid() == pid }, nil
}
