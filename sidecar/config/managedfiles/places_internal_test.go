package managedfiles

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPlaces compares the places of each system with those that administrators read of in docs/policy.md.
func TestPlaces(t *testing.T) {
	document, err := os.ReadFile("../../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	for system, heading := range map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"} {
		var documented, read []string
		for line := range strings.Lines(string(document)) {
			cells := strings.Split(line, "|")
			if len(cells) != 5 || strings.TrimSpace(cells[1]) != heading {
				continue
			}
			for _, quoted := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(cells[3], -1) {
				documented = append(documented, quoted[1])
			}
		}
		for _, p := range places(system) {
			read = append(read, p.path)
		}
		slices.Sort(documented)
		slices.Sort(read)
		if !slices.Equal(documented, read) {
			t.Errorf("%s: the document says\n%q, and these are read:\n%q", system, documented, read)
		}
	}
}
