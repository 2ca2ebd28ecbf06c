package form

// Kept returns how many schemas are kept.
func (c *Cache) Kept() int {
	c.schemas.mu.Lock()
	defer c.schemas.mu.Unlock()
	return len(c.schemas.newer) + len(c.schemas.older)
}
