package store

// Migrations are for the tests that begin with an older store.
var Migrations = migrations[:]
