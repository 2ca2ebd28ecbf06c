package base64text_test

import (
	"encoding/base64"
	"testing"

	"assent/sidecar/base/base64text"
)

func TestNormal(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		ok         bool
	}{
		{"", "", true},
		{"/+8=", "/+8=", true},
		{"_-8", "/+8=", true},
		{"/+8", "/+8=", true},
		{"/+\r\n8=\n", "/+8=", true},
		{"data:image/png;base64,/+8=", "/+8=", true},
		{"data:image/png;charset=x;base64,/+8", "/+8=", true},
		{"data:image/png,x", "", false},
		{"https://example.org/a.png", "", false},
		{"/+8=/+8=", "", false},
		{"a", "", false},
		{"a===", "", false},
		{"<svg/>", "", false},
	} {
		if got, ok := base64text.Normal(tt.text); ok != tt.ok || ok && got != tt.want {
			t.Errorf("Normal(%q) = %q, %v, want %q, %v", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzNormal(f *testing.F) {
	f.Add("/+8=", "\n")
	f.Add("data:image/png;base64,_-8", "=")
	f.Fuzz(func(t *testing.T, a, b string) {
		normal, ok := base64text.Normal(a + b)
		if !ok {
			return
		}
		if _, err := base64.StdEncoding.DecodeString(normal); err != nil {
			t.Errorf("Normal(%q) = %q: %v", a+b, normal, err)
		}
		if again, ok := base64text.Normal(normal); !ok || again != normal {
			t.Errorf("Normal(%q) = %q, %v", normal, again, ok)
		}
	})
}
