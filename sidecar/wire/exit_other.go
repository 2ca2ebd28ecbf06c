//go:build !linux

package wire

func awaitExit(int) {}
