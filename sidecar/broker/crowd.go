package broker

import (
	"fmt"
	"sync"
)

// defaultMaxOpen is that of [protocol.ElicitationSettings].
const defaultMaxOpen = 32

// maxOpen is how many elicitations of one server may wait for the person, as it is set now.
func (b *Broker) maxOpen() limit {
	l := limit{"elicitation", "maxOpen", defaultMaxOpen}
	if set := b.opts.Elicitation().MaxOpen; set != nil {
		l.max = *set
	}
	return l
}

// crowd counts the elicitations of each server that wait for the person, of whatever conversation: a
// thousand questions in a second are not for anybody to read. It may be used from any goroutine.
type crowd struct {
	mu   sync.Mutex       // guards the fields below
	open map[string]int64 // by the server's name; those with none are not in it
	// cut counts those that were refused, by the server's name.
	cut map[string]int64
}

// refused counts one of a server's that was not admitted, and returns what the person is to be told of that;
// nothing but for the first, the tenth, the hundredth and so on, so that the telling is no flood itself.
func (c *crowd) refused(serverName string, l limit) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut == nil {
		c.cut = map[string]int64{}
	}
	c.cut[serverName]++
	n := c.cut[serverName]
	for power := int64(1); power <= n; power *= 10 {
		if power != n {
			continue
		}
		what := "A question of %[2]s was"
		if n > 1 {
			what = "%[1]d questions of %[2]s were"
		}
		return fmt.Sprintf(what+" refused without asking you: your setting assent.%[3]s.%[4]s lets %[5]d of a server wait at once. "+
			"More may have been since.", n, serverName, l.group, l.name, l.max)
	}
	return ""
}

// admit counts one of a server's, or says why it may not come in now. The function that it returns is to
// be called when it waits no more.
func (c *crowd) admit(serverName string, l limit) (done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[serverName] >= l.max {
		return nil, l.exceeded(0, "questions of this server that wait for the user: %d", c.open[serverName])
	}
	if c.open == nil {
		c.open = map[string]int64{}
	}
	c.open[serverName]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[serverName]--; c.open[serverName] == 0 {
			delete(c.open, serverName)
		}
	}, nil
}
