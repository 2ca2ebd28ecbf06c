package form

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"assent/protocol"
)

// mostKept bounds a generation of a [recent], and mostKeptBytes the schema or the pattern of an entry. A hostile
// server's pattern takes up to half a megabyte.
const (
	mostKept      = 16
	mostKeptBytes = 8 << 10
)

// recent keeps values by keys: the mostKept that were used last, and some older ones. The zero value is empty. It may be
// used from any goroutine.
type recent[K comparable, V any] struct {
	mu sync.Mutex // guards the fields below
	// newer takes each value that is used. When it is full it becomes older, and the entries of older are dropped.
	newer, older map[K]V
}

// get returns the value of a key. If there is none, it calls build. An error is returned and not cached.
func (r *recent[K, V]) get(key K, build func() (V, error)) (V, error) {
	r.mu.Lock()
	value, ok := r.newer[key]
	if !ok {
		if value, ok = r.older[key]; ok {
			r.put(key, value)
		}
	}
	r.mu.Unlock()
	if ok {
		return value, nil
	}
	value, err := build()
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.put(key, value)
	}
	return value, err
}

// put stores a value. The lock must be held.
func (r *recent[K, V]) put(key K, value V) {
	if r.newer == nil || len(r.newer) >= mostKept {
		r.newer, r.older = make(map[K]V, mostKept), r.newer
	}
	r.newer[key] = value
}

// Cache is [ParseElicitation] for servers that repeat their schemas. An invalid schema is read again each time. The
// zero value is empty. It may be used from any goroutine.
type Cache struct {
	schemas recent[[sha256.Size]byte, []protocol.Field]
}

// ParseElicitation is the function of that name with a cache. Callers share the fields of a schema, and must not
// change them.
func (c *Cache) ParseElicitation(schema json.RawMessage) ([]protocol.Field, error) {
	if len(schema) > mostKeptBytes {
		return ParseElicitation(schema)
	}
	return c.schemas.get(sha256.Sum256(schema), func() ([]protocol.Field, error) { return ParseElicitation(schema) })
}
