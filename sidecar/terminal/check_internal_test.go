package terminal

import (
	"testing"
	"time"
)

func TestAMomentAsAPersonWritesIt(t *testing.T) {
	here := time.FixedZone("here", 2*60*60)
	now := time.Date(2026, 11, 22, 16, 5, 6, 789, here)
	tests := []struct{ text, want string }{
		{"now", "2026-11-22T16:05:06+02:00"},
		{" 2026-11-21 14:30 ", "2026-11-21T14:30:00+02:00"},
		{"2026-11-21 14:30:15", "2026-11-21T14:30:15+02:00"},
		{"2026-11-21T14:30", "2026-11-21T14:30:00+02:00"},
		{"2026-11-21 14:30Z", "2026-11-21T14:30:00Z"},
		{"2026-11-21 14:30 z", "2026-11-21T14:30:00Z"},
		{"2026-11-21 14:30 -05:00", "2026-11-21T14:30:00-05:00"},
		{"2026-11-21T14:30:00.5Z", "2026-11-21T14:30:00.5Z"}, // as it is wanted already
		{"2026-11-31 14:30", "2026-11-31 14:30"},
		{"tomorrow", "tomorrow"},
		{"2026-11-21", "2026-11-21"},
	}
	for _, tt := range tests {
		if got := moment(tt.text, now); got != tt.want {
			t.Errorf("moment(%q) = %s, want %s", tt.text, got, tt.want)
		}
	}
}
