package terminal

import (
	"strings"

	"charm.land/lipgloss/v2"

	"assent/sidecar/visible"
)

// safe returns a text for a person to read, with its hidden characters made visible.
func safe(text string) string { return visible.Text(text) }

// oneLine is safe without line ends, and no longer than limit characters.
func oneLine(text string, limit int) string {
	text = safe(strings.Join(strings.Fields(text), " "))
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

// strong has a text, which is safe to show, stand out in a dialog.
func strong(text string) string { return lipgloss.NewStyle().Bold(true).Render(text) }

// plain leaves a text as it is, for lines instead of dialogs.
func plain(text string) string { return text }
