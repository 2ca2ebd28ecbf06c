package machine

// Running is a process that runs now, and what tells it from every other one.
type Running struct {
	PID, Parent int
	// Group is the id of its process group.
	Group int
	// Start is when it began, in the system's own terms. Together with PID it is of one process only, until the next
	// boot; see [Boot].
	Start string
	// Marked reports whether its environment had the entry that was looked for when it began.
	Marked bool
}
