//go:build !race

package store_test

const stride = 1
