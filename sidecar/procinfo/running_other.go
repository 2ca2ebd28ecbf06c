//go:build !linux && !darwin && !windows

package procinfo

import "errors"

// Boot is not known here.
func Boot() (string, error) { return "", errors.ErrUnsupported }

// StartOf is not known here.
func StartOf(int) (string, error) { return "", errors.ErrUnsupported }

// Processes is not known here.
func Processes(string) ([]Running, error) { return nil, errors.ErrUnsupported }
