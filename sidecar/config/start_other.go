//go:build !windows

package config

import "os/exec"

// setLine does nothing: here, programs get their arguments one by one.
func setLine(*exec.Cmd, string) {}
