//go:build !linux

package procinfo

import (
	"errors"
	"net/netip"
)

// Listeners is not supported on this system.
func Listeners(int) (listening bool, by []Process, err error) {
	return false, nil, errors.ErrUnsupported
}

// Orphans is not supported on this system.
func Orphans([]string) ([]Process, error) { return nil, errors.ErrUnsupported }

// UserOf is not supported on this system.
func UserOf(netip.AddrPort, netip.AddrPort) (uid int, err error) { return 0, errors.ErrUnsupported }
