package hub_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/hub"
)

const toolsChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

// announced connects to a server in a synctest bubble, and returns the changes of its lists that the hub announces, and the
// server as it answers with serve.
func announced(t *testing.T, serve func(*rawServer)) (*conversation, <-chan time.Time, *rawServer) {
	changes, connected := make(chan time.Time, 1000), make(chan *rawServer, 1)
	c := converseInMemory(t, config.Server{}, func(s *rawServer) {
		s.shake(`{"tools":{"listChanged":true}}`)
		connected <- s
		serve(s)
	}, func(o *hub.Options) {
		o.ListChanged = func(string, protocol.ListKind) { changes <- time.Now() }
	})
	if _, err := c.Start(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	return c, changes, <-connected
}

// A server that says after each list that it has changed is read less and less often. Later, a change is seen at once again.
func TestAListThatChangesWheneverItIsReadIsReadLessOften(t *testing.T) {
	for _, answersAfter := range []time.Duration{0, 150 * time.Millisecond, 250 * time.Millisecond, time.Second} {
		t.Run(answersAfter.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, changes, s := announced(t, func(s *rawServer) {
					for f := s.await("tools/list"); f.Method != ""; f = s.await("tools/list") {
						time.Sleep(answersAfter)
						s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`, f.ID))
						s.write(toolsChanged)
					}
				})
				s.write(toolsChanged)
				began, reads := time.Now(), 0
				for at := range changes {
					if at.Sub(began) > time.Hour {
						break
					}
					reads++
					if _, err := c.Tools(t.Context(), "s"); err != nil {
						t.Fatal(err)
					}
				}
				if reads < 10 || reads > 140 {
					t.Errorf("the list was read %d times in an hour, want less than three times a minute", reads)
				}
				synctest.Wait()
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				for len(changes) > 0 {
					<-changes
				}
				for range 3 {
					changed := time.Now()
					s.write(toolsChanged)
					if after := (<-changes).Sub(changed); after > time.Second {
						t.Errorf("after ten minutes without a change, one is announced after %v", after)
					}
				}
			})
		})
	}
}

// A list that changes now and then is announced at once each time, and of many changes at once the last one, too.
func TestAChangeOfAListIsAnnouncedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, changes, s := announced(t, func(s *rawServer) { s.rest() })
		for range 20 {
			changed := time.Now()
			s.write(toolsChanged)
			if after := (<-changes).Sub(changed); after != 0 {
				t.Errorf("a change is announced after %v", after)
			}
			time.Sleep(3 * time.Second)
		}
		for range 50 {
			s.write(toolsChanged)
		}
		began := time.Now()
		<-changes
		if after := (<-changes).Sub(began); after != 200*time.Millisecond {
			t.Errorf("the last of fifty changes is announced after %v", after)
		}
		time.Sleep(time.Hour)
		if len(changes) > 0 {
			t.Errorf("fifty changes are announced %d times", 2+len(changes))
		}
	})
}
