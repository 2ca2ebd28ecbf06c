package exchange_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWatchSubscribesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		subscribed, gone, withdrawn := make(chan struct{}, 2), make(chan struct{}), make(chan string, 1)
		connections := 0
		f := newFixture(t, func(p *peer) {
			p.shake(`{"resources":{"subscribe":true}}`)
			connections++
			subscribe := p.await("resources/subscribe")
			if !strings.Contains(string(subscribe.Params), `"uri":"file:///x"`) {
				t.Errorf("params = %s", subscribe.Params)
			}
			p.result(subscribe, `{}`)
			subscribed <- struct{}{}
			if connections == 1 {
				<-gone
				return
			}
			unsubscribe := p.await("resources/unsubscribe")
			withdrawn <- string(unsubscribe.Params)
			p.result(unsubscribe, `{}`)
			p.rest()
		})
		ctx, cancel := context.WithCancel(t.Context())
		began, ended := make(chan error, 10), make(chan struct{})
		go func() {
			defer close(ended)
			f.Watch(ctx, "file:///x", func(err error) { began <- err })
		}()
		<-subscribed
		if err := <-began; err != nil {
			t.Errorf("began with %v", err)
		}
		close(gone)
		<-subscribed
		<-began
		cancel()
		<-ended
		if params, want := <-withdrawn, `{"uri":"file:///x"}`; params != want {
			t.Errorf("resources/unsubscribe has the params %s, want %s", params, want)
		}
	})
}

func TestWatchInTheModernEra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listening, withdrawn := make(chan string, 1), make(chan struct{})
		f := newFixture(t, func(p *peer) {
			p.shakeModern()
			listening <- string(p.await("subscriptions/listen").Params)
			if p.await("notifications/cancelled").Method != "" {
				close(withdrawn)
			}
			p.rest()
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.Watch(ctx, "file:///x", func(err error) {
				if err != nil {
					t.Errorf("began with %v", err)
				}
			})
		}()
		if params := <-listening; !strings.Contains(params, `"resourceSubscriptions":["file:///x"]`) {
			t.Errorf("params = %s", params)
		}
		cancel()
		<-ended
		<-withdrawn
	})
}

func TestWatchThatTheServerRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(p *peer) {
			p.shake(`{"resources":{}}`)
			p.write(`{"id":%s,"error":{"code":-32601,"message":"no subscriptions"}}`, p.await("resources/subscribe").ID)
			p.rest()
		})
		began := make(chan error, 1)
		start := time.Now()
		f.Watch(t.Context(), "file:///x", func(err error) { began <- err })
		if err := <-began; err == nil || !strings.Contains(err.Error(), "no subscriptions") || time.Since(start) != 0 {
			t.Errorf("began after %v with %v", time.Since(start), err)
		}
	})
}
