package form

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"assent/protocol"
)

// The bounds of what a [Cache] keeps: twice as many schemas as mostKept, none of them greater than
// mostKeptBytes. What is made of patterns takes up to half a megabyte for each, if a server means harm.
const (
	mostKept      = 16
	mostKeptBytes = 8 << 10
)

// Cache is [ParseElicitation] for servers that ask the same again and again: the fields of a schema are read
// once, and its patterns measured. What cannot be read is read again each time. The zero value is empty, and
// it may be used from any goroutine.
type Cache struct {
	mu sync.Mutex // guards the fields below
	// recent takes what is asked for; when it is full it becomes older, and what that still had is forgotten.
	recent, older map[[sha256.Size]byte][]protocol.Field
}

// ParseElicitation is as the function of that name. The fields are everybody's who asks for this schema: they
// must not be changed.
func (c *Cache) ParseElicitation(schema json.RawMessage) ([]protocol.Field, error) {
	if len(schema) > mostKeptBytes {
		return ParseElicitation(schema)
	}
	key := sha256.Sum256(schema)
	if fields, ok := c.find(key); ok {
		return fields, nil
	}
	fields, err := ParseElicitation(schema)
	if err == nil {
		c.keep(key, fields)
	}
	return fields, err
}

func (c *Cache) find(key [sha256.Size]byte) ([]protocol.Field, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fields, ok := c.recent[key]
	if !ok {
		if fields, ok = c.older[key]; ok {
			c.put(key, fields)
		}
	}
	return fields, ok
}

func (c *Cache) keep(key [sha256.Size]byte, fields []protocol.Field) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, fields)
}

// put keeps the fields of a schema. The lock must be held.
func (c *Cache) put(key [sha256.Size]byte, fields []protocol.Field) {
	if c.recent == nil || len(c.recent) >= mostKept {
		c.recent, c.older = make(map[[sha256.Size]byte][]protocol.Field, mostKept), c.recent
	}
	c.recent[key] = fields
}
