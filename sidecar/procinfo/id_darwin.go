package procinfo

import (
	"encoding/hex"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ID identifies this machine, for as long as it exists; see gethostuuid(2). The name of a Mac would not do: it changes with
// the network.
func ID() (string, error) {
	var id [16]byte
	var wait unix.Timespec
	_, _, errno := unix.Syscall(unix.SYS_GETHOSTUUID, uintptr(unsafe.Pointer(&id)), uintptr(unsafe.Pointer(&wait)), 0)
	if errno != 0 {
		return "", fmt.Errorf("read the id of this machine: %w", errno)
	}
	return hex.EncodeToString(id[:]), nil
}
