package diagnose

import "golang.org/x/sys/windows"

// connectionRefused is the error of a connection to a port on which no process listens. syscall.ECONNREFUSED of Windows
// is a number of Go's own, which no socket returns.
const connectionRefused = windows.WSAECONNREFUSED
