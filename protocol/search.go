package protocol

// SearchTasksParams selects messages by their text.
type SearchTasksParams struct {
	// Text has 2 to 200 characters. Each run of white space counts as one blank.
	Text string `json:"text"`
	// TaskID limits the search to one task.
	TaskID string `json:"taskId,omitempty"`
	// Limit bounds how many messages are found; 0 means 50, and the maximum is 1000.
	Limit int `json:"limit,omitempty"`
}

// SearchTasksResult holds the messages found.
type SearchTasksResult struct {
	Hits []SearchHit `json:"hits,omitempty"`
	// Truncated: there may be more, older ones.
	Truncated bool `json:"truncated,omitempty"`
}

// SearchHit is a message that contains the text.
type SearchHit struct {
	TaskID    string `json:"taskId"`
	Title     string `json:"title"`
	MessageID int64  `json:"messageId"`
	Time      int64  `json:"time"`
	// Before, Match and After are the first occurrence and its surroundings, on one line.
	Before string `json:"before"`
	Match  string `json:"match"`
	After  string `json:"after"`
}
