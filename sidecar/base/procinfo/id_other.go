//go:build !linux && !darwin

package procinfo

import "errors"

// ID is not supported on this system.
func ID() (string, error) { return "", errors.ErrUnsupported }
