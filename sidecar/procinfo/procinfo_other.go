//go:build !linux

package procinfo

import "errors"

// Listeners is not known here.
func Listeners(int) (listening bool, by []Process, err error) {
	return false, nil, errors.ErrUnsupported
}

// Orphans is not known here.
func Orphans([]string) ([]Process, error) { return nil, errors.ErrUnsupported }
