package orgpolicy

import (
	"encoding/json"
	"fmt"
	"strings"
)

// line returns what an administrator adds to an allow list of a format, so that it has a server. It is empty if the definition
// of the server is not known.
func (k Kind) line(s Server) string {
	quoted := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			return "" // texts can always be written
		}
		return string(text)
	}
	command := s.Resolved
	switch {
	case k == Gemini, k == Qwen:
		return quoted(s.Name)
	case s.isRemote() && s.ResolvedURL == "", !s.isRemote() && len(command) == 0:
		return ""
	case k == Codex && s.isRemote():
		return fmt.Sprintf("[mcp_servers.%s.identity]\nurl = %s", quoted(s.Name), quoted(s.ResolvedURL))
	case k == Codex:
		var args []string
		for _, arg := range command[1:] {
			args = append(args, fmt.Sprintf(`{match = "exact", value = %s}`, quoted(arg)))
		}
		return fmt.Sprintf("[mcp_servers.%s.identity]\ncommand = {executable = %s, args = [%s]}", quoted(s.Name), quoted(command[0]), strings.Join(args, ", "))
	case k == ClaudeServers && s.isRemote():
		return quoted(s.Name) + ": " + quoted(map[string]string{"type": "http", "url": s.ResolvedURL})
	case k == ClaudeServers:
		return quoted(s.Name) + ": " + quoted(struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		}{command[0], command[1:]})
	case s.isRemote():
		return quoted(map[string]string{string(byURL): s.ResolvedURL})
	default:
		return quoted(map[string][]string{string(byCommand): command})
	}
}
