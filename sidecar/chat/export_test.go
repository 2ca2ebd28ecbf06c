package chat

import "testing"

// LimitHistory bounds the conversations of a test in memory.
func LimitHistory(t *testing.T, bytes int) {
	before := maxHistory
	maxHistory = bytes
	t.Cleanup(func() { maxHistory = before })
}
