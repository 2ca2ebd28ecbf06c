package store

// Migrations are for the tests that begin with an older store.
var Migrations = migrations[:]

// Lately is for the test of what is found by it.
const Lately = lately

// OpenNow is Open, and does not wait for another process.
func OpenNow(dir string) (*Store, error) { return openDir(dir, 0) }
