package procinfo

// Running is a running process, with its identity.
type Running struct {
	PID, Parent int
	// Group is the id of its process group.
	Group int
	// Start is the start time in the system's own format. Together with PID it identifies one process until the next boot;
	// see [Boot].
	Start string
	// Marked reports whether its environment had the wanted entry at its start.
	Marked bool
}
