package terminal

import (
	"testing"

	"assent/protocol"
)

func TestAProgressHasShortNumbers(t *testing.T) {
	for _, tt := range []struct {
		progress protocol.Progress
		line     string
	}{
		{protocol.Progress{Progress: 0.1 + 0.2, Total: 1}, "… 0.3 of 1"},
		{protocol.Progress{Progress: 3, Total: 10, Message: "copying"}, "… 3 of 10: copying"},
		{protocol.Progress{Progress: 2.0 / 3}, "… 0.67"},
	} {
		if got := progressLine(tt.progress); got != tt.line {
			t.Errorf("progressLine(%v) = %q, want %q", tt.progress, got, tt.line)
		}
	}
}
