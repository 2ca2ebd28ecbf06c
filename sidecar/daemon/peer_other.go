//go:build unix && !linux && !darwin && !freebsd

package daemon

import "errors"

// peerUser fails, so that no client is admitted.
func peerUser(int) (int, error) { return -1, errors.ErrUnsupported }
