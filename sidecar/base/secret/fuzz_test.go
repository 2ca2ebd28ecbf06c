package secret_test

import (
	"strings"
	"testing"

	"assent/sidecar/base/secret"
)

// FuzzScan checks that findings are within the text, ascending and disjoint, and that redacting
// removes known values.
func FuzzScan(f *testing.F) {
	for _, tt := range examples {
		for _, text := range append(tt.secrets, tt.misses...) {
			f.Add(text, text)
			f.Add(strings.ReplaceAll(tt.around, "%", text)+text, "a held value")
		}
	}
	s := secret.New()
	f.Fuzz(func(t *testing.T, text, value string) {
		findings := s.Scan(text, []secret.Known{{Value: value, Description: "\x00"}})
		end := 0
		for _, found := range findings {
			if found.Start < end || found.End <= found.Start || found.End > len(text) {
				t.Fatalf("%q has %+v", text, findings)
			}
			end = found.End
		}
		if len(findings) > secret.MostFindings {
			t.Fatalf("%d findings", len(findings))
		}
		redacted := secret.Redact(text, findings)
		value = strings.TrimSpace(value)
		if len(value) >= 8 && !strings.Contains("[redacted: \x00]", value) {
			for kept := range strings.SplitSeq(redacted, "[redacted: ") {
				if strings.Contains(kept, value) {
					t.Fatalf("%q is left in %q", value, redacted)
				}
			}
		}
	})
}

// FuzzInValue checks that findings are within the value, ascending and disjoint.
func FuzzInValue(f *testing.F) {
	for _, tt := range values {
		f.Add(tt.name, tt.value)
	}
	s := secret.New()
	f.Fuzz(func(t *testing.T, name, value string) {
		end := 0
		for _, found := range s.InValue(name, value) {
			if found.Start < end || found.End < found.Start || found.End > len(value) {
				t.Fatalf("%q=%q has %+v", name, value, found)
			}
			end = found.End
		}
	})
}
