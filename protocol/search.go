package protocol

// SearchTasksParams says what to look for.
type SearchTasksParams struct {
	// Text has 2 characters at least, and 200 at most; each run of white space is as one blank.
	Text string `json:"text"`
	// TaskID limits the search to one task.
	TaskID string `json:"taskId,omitempty"`
	// Limit bounds how many messages are found; 0 means 50, and 1000 is the most.
	Limit int `json:"limit,omitempty"`
}

// SearchTasksResult is what was found.
type SearchTasksResult struct {
	Hits []SearchHit `json:"hits,omitempty"`
	// Truncated: there may be more, older ones.
	Truncated bool `json:"truncated,omitempty"`
}

// SearchHit is a message that has the text.
type SearchHit struct {
	TaskID    string `json:"taskId"`
	Title     string `json:"title"`
	MessageID int64  `json:"messageId"`
	Time      int64  `json:"time"`
	// Before, Match and After are where the text is in it for the first time, on one line.
	Before string `json:"before"`
	Match  string `json:"match"`
	After  string `json:"after"`
}
