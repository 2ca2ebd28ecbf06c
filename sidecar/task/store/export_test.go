package store

// Lately is exported for the test of late changes.
const Lately = lately

// OpenNow is Open, and does not wait for another process.
func OpenNow(dir string) (*Store, error) { return openDir(dir, 0) }

// FileURI is exported for paths that this system does not have.
var FileURI = fileURI
