package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"assent/protocol"
)

// Found is a message that may contain a text.
type Found struct {
	Place
	Message protocol.Message
}

// searchPage is how many messages are read at once. Other uses of the store wait that long.
const searchPage = 500

// Search calls visit for the messages that may contain a text, of all tasks that are not deleted, or of one if
// taskID is not empty: the newest task first, and in each the newest message first. It ends when visit returns
// false, and with ctx. The text may be in the JSON of a message only, so visit has to check the message itself.
func (s *Store) Search(ctx context.Context, text, taskID string, visit func(Found) (more bool)) error {
	like := likeInJSON(text)
	at := Place{TaskID: "\U0010FFFF"}
	if taskID != "" {
		at = Place{taskID, 1<<63 - 1}
	}
	for {
		page, last, err := s.searchPage(ctx, like, taskID, at)
		if err != nil {
			return fmt.Errorf("search messages: %w", err)
		}
		for _, f := range page {
			if !visit(f) {
				return nil
			}
		}
		if last == nil {
			return nil
		}
		at = *last
	}
}

// searchPage returns the messages before a place that may contain a text, and the place of the last message
// that it read; nil if there are no more.
func (s *Store) searchPage(ctx context.Context, like, taskID string, at Place) (found []Found, last *Place, err error) {
	// The query also returns messages that do not match, without their bodies: the next page begins after the last one.
	rows, err := s.db.QueryContext(ctx, `
		SELECT task_id, id, CASE WHEN body LIKE ? ESCAPE '\' THEN body END FROM messages
		WHERE (task_id, id) < (?, ?) AND task_id >= ? AND task_id NOT IN (SELECT id FROM tasks WHERE deleted > 0)
		ORDER BY task_id DESC, id DESC LIMIT ?`, like, at.TaskID, at.MessageID, taskID, searchPage)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	count := 0
	for ; rows.Next(); count++ {
		var f Found
		var body sql.RawBytes
		if err := rows.Scan(&f.TaskID, &f.MessageID, &body); err != nil {
			return nil, nil, err
		}
		last = &Place{f.TaskID, f.MessageID}
		if body != nil && json.Unmarshal(body, &f.Message) == nil { // a damaged message is skipped
			found = append(found, f)
		}
	}
	if count < searchPage {
		last = nil
	}
	return found, last, rows.Err()
}

// likeInJSON returns a pattern that matches every JSON text with a text in it, and some others: characters that
// JSON may escape, or whose case LIKE does not know, match anything.
func likeInJSON(text string) string {
	var like strings.Builder
	like.WriteByte('%')
	open := true
	for _, r := range text {
		switch {
		case r > ' ' && r < 0x7f && !strings.ContainsRune(`"\<>&/`, r):
			if r == '%' || r == '_' {
				like.WriteByte('\\')
			}
			like.WriteRune(r)
			open = false
		case !open:
			like.WriteByte('%')
			open = true
		}
	}
	if !open {
		like.WriteByte('%')
	}
	return like.String()
}
