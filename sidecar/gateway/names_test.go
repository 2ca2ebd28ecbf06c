package gateway

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestJoinedNames(t *testing.T) {
	long := strings.Repeat("x", 80)
	all := []qualified{
		{"shop", "buy"}, {"shop", "buy-now"}, {"my shop", "a"}, {"my.shop", "a"}, {"shop", long}, {"shop", long + "y"}, {"shop", "buy"},
	}
	got := joinedNames(all)
	want := map[qualified]string{
		{"shop", "buy"}:      "shop__buy",
		{"shop", "buy-now"}:  "shop__buy_now",
		{"my shop", "a"}:     "my_shop__a_5m09ocnmhc287",
		{"my.shop", "a"}:     "my_shop__a_snq46gi86c9c1",
		{"shop", long}:       "shop__" + long[:26] + "_ik2rpsnp0uujh",
		{"shop", long + "y"}: "shop__" + long[:26] + "_k098apmv5l15f",
	}
	for q, name := range want {
		if got[q] != name {
			t.Errorf("%v: got %q, want %q", q, got[q], name)
		}
	}
}

// TestANameWithTheHashOfAnother takes the name of no other tool.
func TestANameWithTheHashOfAnother(t *testing.T) {
	shop := []qualified{{"my shop", "a"}, {"my.shop", "a"}}
	taken := joinedNames(shop)[shop[0]]
	hostile := qualified{"my_shop", taken[len("my_shop__"):]}
	names := joinedNames(append(shop, hostile))
	if names[shop[0]] != taken || names[hostile] == taken {
		t.Errorf("%q and %q", names[shop[0]], names[hostile])
	}
}

// TestJoinedNamesAreUsable checks any names: short, plain, unique, and the same in any order.
func TestJoinedNamesAreUsable(t *testing.T) {
	usable := regexp.MustCompile(`^[A-Za-z0-9_]{1,46}$`)
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringOfN(rapid.SampledFrom([]rune("ab_.-é")), 1, 60, -1)
		all := rapid.SliceOfDistinct(rapid.Custom(func(t *rapid.T) qualified {
			return qualified{part.Draw(t, "server"), part.Draw(t, "name")}
		}), func(q qualified) qualified { return q }).Draw(t, "all")
		names := joinedNames(all)
		seen := map[string]qualified{}
		for q, name := range names {
			if other, isTaken := seen[name]; isTaken {
				t.Fatalf("%v and %v are both %q", q, other, name)
			}
			seen[name] = q
			if !usable.MatchString(name) {
				t.Fatalf("%v is %q", q, name)
			}
		}
		slices.Reverse(all)
		if !maps.Equal(names, joinedNames(all)) {
			t.Fatal("the order changes names")
		}
	})
}
