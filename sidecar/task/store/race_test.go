//go:build race

package store_test

// stride skips most bytes, because the race detector makes SQLite ten times slower and does not check them.
const stride = 16
