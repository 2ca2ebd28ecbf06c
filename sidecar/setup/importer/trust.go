package importer

import "slices"

// AsksForTrust reports whether a program, by its name on a command line, asks the person whether they trust a folder before it
// works there.
func AsksForTrust(id string) bool {
	return slices.Contains([]string{claudeCode.id, codex.id, copilot.id, vscode.id}, id)
}
