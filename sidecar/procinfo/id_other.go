//go:build !linux && !darwin

package procinfo

import "errors"

// ID is not known here.
func ID() (string, error) { return "", errors.ErrUnsupported }
