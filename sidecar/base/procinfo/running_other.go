//go:build !linux && !darwin && !windows

package procinfo

import "errors"

// Boot is not supported on this system.
func Boot() (string, error) { return "", errors.ErrUnsupported }

// StartOf is not supported on this system.
func StartOf(int) (string, error) { return "", errors.ErrUnsupported }

// Processes is not supported on this system.
func Processes(string) ([]Running, error) { return nil, errors.ErrUnsupported }
