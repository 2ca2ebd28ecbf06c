package form_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/broker/form"
)

// schemaOf returns a schema that is unique to a number.
func schemaOf(n int) json.RawMessage {
	return fmt.Appendf(nil, `{"type":"object","properties":{"p%d":{"type":"string","pattern":"^[a-z]{%d}$"}},"required":["p%d"]}`, n, n%50+1, n)
}

func TestACachedSchemaEqualsAParsedOne(t *testing.T) {
	var c form.Cache
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for n := range 100 { // more than are cached; each again while it is cached and after
				for _, n := range []int{n, n, n % 7} {
					want, err := form.ParseElicitation(schemaOf(n))
					if err != nil {
						t.Error(err)
						return
					}
					got, err := c.ParseElicitation(schemaOf(n))
					if diff := cmp.Diff(want, got); diff != "" || err != nil {
						t.Errorf("schema %d: %v (-want +got):\n%s", n, err, diff)
						return
					}
				}
			}
		})
	}
	asking.Wait()
	if kept := c.Kept(); kept > 32 {
		t.Errorf("%d schemas are kept", kept)
	}
}

func TestASchemaThatCannotBeReadIsNotKept(t *testing.T) {
	var c form.Cache
	bad := json.RawMessage(`{"type":"object","properties":{"p":{"type":"object"}}}`)
	_, want := form.ParseElicitation(bad)
	for range 2 {
		if _, err := c.ParseElicitation(bad); err == nil || err.Error() != want.Error() {
			t.Errorf("ParseElicitation = %v, want %v", err, want)
		}
	}
	large := fmt.Appendf(nil, `{"type":"object","properties":{"p":{"type":"string","description":"%0100000d"}}}`, 0)
	if _, err := c.ParseElicitation(large); err != nil {
		t.Error(err)
	}
	if kept := c.Kept(); kept != 0 {
		t.Errorf("%d schemas are kept", kept)
	}
}

// formOfThree is a schema with three fields.
var formOfThree = json.RawMessage(`{"type":"object","properties":{
	"name":{"type":"string","title":"Name","minLength":1,"pattern":"^[A-Z][a-z]+$"},
	"age":{"type":"integer","minimum":0,"maximum":150},
	"colour":{"type":"string","enum":["red","green","blue"]}
},"required":["name"]}`)

func BenchmarkParseElicitation(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := form.ParseElicitation(formOfThree); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseElicitationAgain(b *testing.B) {
	var c form.Cache
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.ParseElicitation(formOfThree); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	fields, err := form.ParseElicitation(formOfThree)
	if err != nil {
		b.Fatal(err)
	}
	answer := json.RawMessage(`{"name":"Ada","age":36,"colour":"green"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := form.Check(fields, answer); problems != nil {
			b.Fatal(problems)
		}
	}
}
