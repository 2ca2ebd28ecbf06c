package config

import (
	"errors"
	"time"
)

// runShell does nothing: on Windows a program's PATH is the same however it was started.
func runShell(string, []string, []string, time.Duration, func(string) bool) (string, error) {
	return "", errors.New("is not asked on Windows")
}
