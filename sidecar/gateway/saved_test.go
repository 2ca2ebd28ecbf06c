package gateway_test

import (
	"encoding/json"
	"testing"

	"assent/sidecar/gateway"
)

// An earlier daemon wrote the state of a call. It is read whole, and written again as it was.
func TestASavedCallIsStableOnDisk(t *testing.T) {
	const body = `{"view":{"server":"s","answerIn":"assent","asIs":true,"quiet":true},"host":"h","key":"k","handle":"1",` +
		`"session":"2","client":{"name":"c","title":"","version":"1"},"revision":"2025-11-25","capabilities":"{\"roots\":{}}","server":"s",` +
		`"method":"tools/call","params":"{\"name\": \"t\"}","states":["a"],"tasks":[{"id":"t","session":"2","modern":true,` +
		`"created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:06Z","ttl":60000000000,"cancelled":true}],"names":["n"],` +
		`"open":{"own":"n"},"ended":"2026-01-02T03:04:07Z","result":"{}","error":{"code":-32603,"message":"m"}}`
	var saved gateway.SavedCall
	if err := json.Unmarshal([]byte(body), &saved); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&saved)
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != body {
		t.Errorf("got  %s\nwant %s", again, body)
	}
}
