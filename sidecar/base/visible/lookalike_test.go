package visible_test

import (
	"testing"

	"assent/sidecar/base/visible"
)

func TestNamesThatLookAlike(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		alike bool
	}{
		{"github", "gіthub", true},
		{"github", "github\ufe0f", true},
		{"github", "git\u200dhub", true},
		{"github", "ｇｉｔｈｕｂ", true},
		{"github", "𝗀𝗂𝗍𝗁𝗎𝖻", true},
		{"postgres-1", "роѕtgrеѕ‑l", true},
		{"Index", "Ιndex", true},
		{"⭐", "⭐\ufe0f", true},
		{"web0", "webО", true},
		{"github", "github ", true},
		{"my server", " my\u00a0 server", true},
		{"memory", "rnemory", true},
		{"web", "vveb", true},
		{"github", "gitlab", false},
		{"a b", "ab", false},
		{"github", "GitHub", false},
		{"cafe", "café", false},
		{"磁盘", "硬盘", false},
		{"почта", "погода", false},
		{"a-b", "a_b", false},
	} {
		if got := visible.Skeleton(tt.a) == visible.Skeleton(tt.b); got != tt.alike {
			t.Errorf("%q and %q look alike: %v, want %v", tt.a, tt.b, got, tt.alike)
		}
	}
	if got, want := visible.Spelled("gіthub"), "g<U+0456>thub"; got != want {
		t.Errorf("Spelled = %q, want %q", got, want)
	}
}
