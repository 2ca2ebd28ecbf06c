package form

import "assent/protocol"

// matches runs a program over a text. It takes time in proportion to the text and to the program. The
// front end's pattern.ts does the same.
func matches(p *protocol.PatternProgram, text string) bool {
	chars := []rune(text)
	if len(chars) > maxTextRunes {
		return true
	}
	m := matcher{program: p, chars: chars, seen: make([]int, len(p.Steps))}
	var now, next []int
	for at := 0; ; at++ {
		// A thread of its own begins at each character: a pattern need not match all of the text.
		if now = m.follow(now, p.Start, at); m.matched {
			return true
		}
		if at == len(chars) {
			return false
		}
		next = next[:0]
		for _, step := range now {
			if s := p.Steps[step]; within(p.Classes[s.Arg], int(chars[at])) {
				next = m.follow(next, s.Out, at+1)
			}
		}
		if m.matched {
			return true
		}
		now, next = next, now
	}
}

type matcher struct {
	program *protocol.PatternProgram
	chars   []rune
	seen    []int // by step: 1 + the position for which it was followed last
	matched bool
	pending []int
}

// follow adds to threads the steps that wait for the character at a position, and that can be reached
// from a step without one.
func (m *matcher) follow(threads []int, step, at int) []int {
	m.pending = append(m.pending[:0], step)
	for len(m.pending) > 0 {
		step := m.pending[len(m.pending)-1]
		m.pending = m.pending[:len(m.pending)-1]
		if m.seen[step] == at+1 {
			continue
		}
		m.seen[step] = at + 1
		s := m.program.Steps[step]
		switch s.Op {
		case protocol.PatternChar:
			threads = append(threads, step)
		case protocol.PatternEither:
			m.pending = append(m.pending, s.Arg, s.Out)
		case protocol.PatternMatch:
			m.matched = true
		case protocol.PatternBegin, protocol.PatternEnd, protocol.PatternBoundary, protocol.PatternInside:
			if m.holds(s.Op, at) {
				m.pending = append(m.pending, s.Out)
			}
		}
	}
	return threads
}

func (m *matcher) holds(op protocol.PatternOp, at int) bool {
	switch op {
	case protocol.PatternBegin:
		return at == 0
	case protocol.PatternEnd:
		return at == len(m.chars)
	default:
		boundary := m.isWord(at-1) != m.isWord(at)
		return boundary == (op == protocol.PatternBoundary)
	}
}

func (m *matcher) isWord(at int) bool {
	if at < 0 || at >= len(m.chars) {
		return false
	}
	r := m.chars[at]
	return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// within reports whether a class has a character.
func within(class []int, r int) bool {
	low, high := 0, len(class)/2
	for low < high {
		middle := (low + high) / 2
		switch {
		case r < class[2*middle]:
			high = middle
		case r > class[2*middle+1]:
			low = middle + 1
		default:
			return true
		}
	}
	return false
}
