package workspace_test

import (
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/hub"
)

// What the sidecar does besides ending servers, as closing the store, is quick, and this is enough for it.
const everythingElse = 5 * time.Second

func TestAFrontEndWaitsUntilStubbornServersHaveEnded(t *testing.T) {
	const wait = protocol.CloseTimeoutMs * time.Millisecond
	if need := hub.LongestClose + everythingElse; wait < need {
		t.Errorf("a front end kills the sidecar %v after it closed its stdin, and the sidecar may need %v", wait, need)
	}
}
