//go:build !linux && !darwin

package machine

import "errors"

// ID is not known here.
func ID() (string, error) { return "", errors.ErrUnsupported }
