package broker

import "sync"

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
	mu   sync.Mutex       // guards open
	open map[string]int64 // by the server's name; those with none are not in it
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
