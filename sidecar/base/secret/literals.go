package secret

import "strings"

// shortest is the minimum length of a literal: the search hashes that many bytes at each position.
const shortest = 3

// literals finds many literals in one pass. Most positions of a text need only one look-up in a table
// of 8 kB, which fits into the processor's first cache. That makes it faster here than an automaton,
// and it is built in microseconds.
type literals struct {
	begins  [1 << 10]uint64 // a bit for each hash of the first three bytes
	byBegin map[uint32][]literal
}

// literal is a literal, with the number under which it was added.
type literal struct {
	text   string
	number int
}

func (l *literals) add(text string, number int) {
	if l.byBegin == nil {
		l.byBegin = map[uint32][]literal{}
	}
	key := begin(text, 0)
	h := hash(key)
	l.begins[h>>6] |= 1 << (h & 63)
	l.byBegin[key] = append(l.byBegin[key], literal{text, number})
}

// each calls hit for each literal at each position of the text, in order.
func (l *literals) each(text string, hit func(at int, found literal)) {
	for at := 0; at+shortest <= len(text); at++ {
		key := begin(text, at)
		if h := hash(key); l.begins[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, lit := range l.byBegin[key] {
			if strings.HasPrefix(text[at:], lit.text) {
				hit(at, lit)
			}
		}
	}
}

func begin(text string, at int) uint32 {
	return uint32(text[at]) | uint32(text[at+1])<<8 | uint32(text[at+2])<<16
}

// hash spreads three bytes over 16 bits (Knuth, The Art of Computer Programming 3, 6.4).
func hash(key uint32) uint32 { return key * 2654435769 >> 16 }
