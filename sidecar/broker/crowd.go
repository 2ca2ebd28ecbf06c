package broker

import (
	"fmt"
	"sync"

	"assent/protocol"
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
	mu   sync.Mutex       // guards the field below
	open map[string]int64 // by the server's name; those with none are not in it

	cutting sync.Mutex // guards the field below, and is held while a task is told, so that the counts come in their order
	// cut counts those that were refused, by the server's name.
	cut map[string]int64
}

// refused counts one of a server's that was not admitted, and tells the task of the first, the tenth, the hundredth
// and so on, so that the telling is no flood itself.
func (c *crowd) refused(t Asker, serverName string, l limit) {
	c.cutting.Lock()
	defer c.cutting.Unlock()
	if c.cut == nil {
		c.cut = map[string]int64{}
	}
	c.cut[serverName]++
	n := c.cut[serverName]
	power := int64(1)
	for power < n {
		power *= 10
	}
	if power != n {
		return
	}
	what := "A question of %[2]s was"
	if n > 1 {
		what = "%[1]d questions of %[2]s were"
	}
	setting := "assent." + l.group + "." + l.name
	t.Tell(protocol.Notice{
		Level: protocol.NoticeWarning,
		Text: fmt.Sprintf(what+" refused without asking you: your setting %[3]s lets %[4]d of a server wait at once. "+
			"More may have been since.", n, serverName, setting, l.max),
		Refused: &protocol.RefusedQuestions{ServerName: serverName, Count: n, Setting: setting, Max: l.max},
	})
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
