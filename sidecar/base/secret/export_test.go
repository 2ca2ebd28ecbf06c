package secret

// RuleIDs returns the ids of the table.
func RuleIDs() []string {
	var ids []string
	for _, r := range table() {
		ids = append(ids, r.id)
	}
	return ids
}
