package terminal

import (
	"strings"

	"charm.land/lipgloss/v2"

	"assent/sidecar/base/visible"
)

// safe returns a text with its hidden characters made visible, so that it can be shown to a person.
func safe(text string) string { return visible.Text(text) }

// oneLine is safe for a text in one line, which it cuts to limit characters.
func oneLine(text string, limit int) string {
	text = safe(strings.Join(strings.Fields(text), " "))
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

// strong highlights a text in a dialog. The text must be safe to show.
func strong(text string) string { return lipgloss.NewStyle().Bold(true).Render(text) }

// plain returns a text unchanged. It replaces strong outside dialogs.
func plain(text string) string { return text }
