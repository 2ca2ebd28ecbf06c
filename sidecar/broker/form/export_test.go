package form

// Kept returns the number of cached schemas.
func (c *Cache) Kept() int {
	c.schemas.mu.Lock()
	defer c.schemas.mu.Unlock()
	return len(c.schemas.newer) + len(c.schemas.older)
}
