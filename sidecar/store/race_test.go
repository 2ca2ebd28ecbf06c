//go:build race

package store_test

// stride leaves most bytes out: the race detector makes SQLite ten times slower, and knows nothing of bytes.
const stride = 16
