package gateway

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assent/sidecar/base/jsonscan"
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

// A name that is too long keeps what the tool is called. The server is named by the title, unless the tool has one.
func TestRenamed(t *testing.T) {
	const server = "awslabs.billing-cost-management-mcp-server2"
	for _, test := range []struct{ server, tool, item, name, title string }{
		{"shop", "buy", `{"name":"buy"}`, `^shop__buy$`, ""},
		{"shop", "buy-now", `{"name":"buy-now"}`, `^shop__buy_now$`, "shop: buy-now"},
		{server, "t", `{"name":"t"}`, `^awslabs_billing_cost_management_mcp_server2__t$`, server + ": t"},
		{server, "get_cost", `{"name":"get_cost"}`, `^awslabs_billing_cost_m__get_cost_\w{13}$`, server + ": get_cost"},
		{server, "get_cost_and_usage_with_resources", `{"name":"x"}`, `^awslab__get_cost_and_usage_with__\w{13}$`, server + ": get_cost_and_usage_with_resources"},
		{server, "get_cost_and_usage_with_resources", `{"name":"x","title":"Costs"}`, `^awslab__get_cost_`, "Costs"},
		{server, "get_cost_and_usage_with_resources", `{"name":"x","annotations":{"title":"Costs"}}`, `^awslab__get_cost_`, ""},
		{"s", strings.Repeat("x", 60), `{}`, `^s__x{29}_\w{13}$`, "s: " + strings.Repeat("x", 60)},
	} {
		q := qualified{test.server, test.tool}
		name := joinedNames([]qualified{q})[q]
		item := renamed([]byte(test.item), q, name)
		if !regexp.MustCompile(test.name).MatchString(name) || jsonscan.Text(item, "name") != name || jsonscan.Text(item, "title") != test.title {
			t.Errorf("%v: named %q, listed as %s", q, name, item)
		}
		if _, may := restOf(test.server, name); !may {
			t.Errorf("%v: %q is not found by its server", q, name)
		}
	}
}
