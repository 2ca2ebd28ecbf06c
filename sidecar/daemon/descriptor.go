package daemon

// descriptor returns the security descriptor of the pipe on Windows, in SDDL: a list without inheritance that gives all
// access to the user with a SID and to the system.
func descriptor(sid string) string { return "D:P(A;;GA;;;" + sid + ")(A;;GA;;;SY)" }
