package form

// Kept returns how many schemas are kept.
func (c *Cache) Kept() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.recent) + len(c.older)
}
