package stack_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"assent/sidecar/base/stack"
)

// grown needs about 200 kB of stack.
func grown(n int) int {
	var frame [1 << 10]byte
	frame[n] = byte(n)
	if n == 0 {
		return int(frame[0])
	}
	return grown(n-1) + int(frame[n]) - n%256
}

// TestManyAtOnce checks that each call is made once, also with more concurrent calls than idle stacks, and
// that Close leaves no goroutine behind; otherwise the bubble would not end.
func TestManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pool stack.Pool
		for range 3 {
			var mu sync.Mutex
			made := map[int]int{}
			free := make(chan struct{})
			var all sync.WaitGroup
			for i := range 100 {
				all.Go(func() {
					pool.Call(func() {
						<-free // all of them are in a call
						grown(200)
						pool.Call(func() {
							mu.Lock()
							defer mu.Unlock()
							made[i]++
						})
					})
				})
			}
			synctest.Wait()
			close(free)
			all.Wait()
			for i := range 100 {
				if made[i] != 1 {
					t.Fatalf("call %d was made %d times", i, made[i])
				}
			}
		}
		pool.Close()
		pool.Call(func() {})
	})
}

func TestACallInUseOutlivesClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pool stack.Pool
		free, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			pool.Call(func() { <-free })
		}()
		synctest.Wait()
		pool.Close()
		close(free)
		<-done
	})
}

func explode() { panic("oh") }

// TestAPanicIsTheCallersAndSaysWhereItCameFrom also checks that the stack can be used again.
func TestAPanicIsTheCallersAndSaysWhereItCameFrom(t *testing.T) {
	var pool stack.Pool
	defer pool.Close()
	for range 2 {
		got := func() (r any) {
			defer func() { r = recover() }()
			pool.Call(explode)
			return nil
		}()
		err, ok := got.(error)
		if !ok || !strings.HasPrefix(err.Error(), "oh\n") || !strings.Contains(err.Error(), "stack_test.explode") {
			t.Errorf("recovered %v", got)
		}
		called := false
		if pool.Call(func() { called = true }); !called {
			t.Error("nothing is called after a panic")
		}
	}
}

func TestANilPoolCallsWhereItIs(t *testing.T) {
	var pool *stack.Pool
	err := errors.New("not called")
	if pool.Call(func() { err = nil }); err != nil {
		t.Error(err)
	}
}

// BenchmarkCall compares a deep function on a new goroutine's stack with one on a pool's.
func BenchmarkCall(b *testing.B) {
	for _, pool := range []*stack.Pool{nil, {}} {
		b.Run(fmt.Sprint("pool=", pool != nil), func(b *testing.B) {
			defer func() {
				if pool != nil {
					pool.Close()
				}
			}()
			done := make(chan struct{})
			b.ReportAllocs()
			for b.Loop() {
				go func() {
					pool.Call(func() { grown(20) })
					done <- struct{}{}
				}()
				<-done
			}
		})
	}
}
