package procinfo

import (
	"encoding/hex"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ID identifies this machine permanently; see gethostuuid(2). The host name of a Mac is not enough, because it changes
// with the network.
func ID() (string, error) {
	var id [16]byte
	var wait unix.Timespec
	_, _, errno := unix.Syscall(unix.SYS_GETHOSTUUID, uintptr(unsafe.Pointer(&id)), uintptr(unsafe.Pointer(&wait)), 0)
	if errno != 0 {
		return "", fmt.Errorf("read the id of this machine: %w", errno)
	}
	return hex.EncodeToString(id[:]), nil
}
