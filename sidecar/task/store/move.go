package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assent/protocol"
)

// moves copy from main to home the rows that are newer in main or missing in home. A task's number grows with each
// change, and a message has the number of its last change.
var moves = []string{
	`CREATE TEMP TABLE moving AS SELECT m.task_id AS id, h.number IS NOT NULL AS met, COALESCE(h.number, 0) <= m.number AS newer
		FROM main.heads m LEFT JOIN home.heads h ON h.task_id = m.task_id AND h.message_id = 0 WHERE m.task_id <> '' AND m.message_id = 0`,
	// The newer task has the right rounds of its calls.
	`DELETE FROM home.rounds WHERE task_id IN (SELECT id FROM moving WHERE newer)`,
	`DELETE FROM home.host_calls WHERE task_id IN (SELECT id FROM moving WHERE newer)`,
	`INSERT OR REPLACE INTO home.tasks SELECT * FROM main.tasks WHERE id IN (SELECT id FROM moving WHERE newer)`,
	`INSERT OR REPLACE INTO home.heads SELECT * FROM main.heads WHERE message_id = 0 AND task_id IN (SELECT id FROM moving WHERE newer)`,
	`INSERT OR REPLACE INTO home.messages SELECT m.* FROM main.messages m LEFT JOIN home.messages h ON h.task_id = m.task_id AND h.id = m.id
		WHERE h.id IS NULL OR h.number <= m.number`,
	// The number of later messages is known now.
	`UPDATE home.messages SET late = 1 WHERE late = 0 AND task_id IN (SELECT id FROM moving WHERE met)`,
	`DELETE FROM home.heads WHERE message_id > 0`, // no trigger sees replaced messages
	`INSERT INTO home.heads (task_id, message_id) SELECT task_id, id FROM home.messages WHERE live = 1`,
	`INSERT INTO home.rounds SELECT * FROM main.rounds WHERE task_id IN (SELECT id FROM moving WHERE newer)`,
	`INSERT INTO home.host_calls SELECT * FROM main.host_calls WHERE task_id IN (SELECT id FROM moving WHERE newer)`,
	`DROP TABLE moving`,
	`INSERT OR REPLACE INTO home.drafts SELECT * FROM main.drafts`,
	`INSERT OR IGNORE INTO home.grants SELECT * FROM main.grants`,
	`INSERT OR IGNORE INTO home.tool_rules SELECT * FROM main.tool_rules`,
	`INSERT INTO home.tool_approvals SELECT * FROM main.tool_approvals WHERE true
		ON CONFLICT DO UPDATE SET approved_at = excluded.approved_at, body = excluded.body WHERE excluded.approved_at > approved_at`,
	`INSERT INTO home.server_decisions SELECT * FROM main.server_decisions WHERE true
		ON CONFLICT DO UPDATE SET decided_at = excluded.decided_at, body = excluded.body WHERE excluded.decided_at > decided_at`,
}

// copyInto copies the database of a connection into the file name, which has the same schema, in one transaction.
func copyInto(ctx context.Context, conn *sql.Conn, name string) (err error) {
	if _, err := conn.ExecContext(ctx, `ATTACH ? AS home`, name); err != nil {
		return err
	}
	defer func() {
		_, detachErr := conn.ExecContext(context.WithoutCancel(ctx), `DETACH home`)
		err = errors.Join(err, detachErr)
	}()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit
	for _, move := range moves {
		if _, err := tx.ExecContext(ctx, move); err != nil {
			return err
		}
	}
	if err := moveJournal(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// moveJournal appends to home's journal the records that only main's has. If home's journal is empty or is the beginning of
// main's, the records keep their numbers and hashes. Otherwise they get new ones after home's end. Main's records of cuts
// are then left out, because they name records that home's journal never had.
func moveJournal(ctx context.Context, tx *sql.Tx) error {
	var same bool
	err := tx.QueryRowContext(ctx, `SELECT number = 0 OR
			EXISTS (SELECT 1 FROM main.journal j WHERE j.seq = number AND j.hash = home.heads.hash) OR
			EXISTS (SELECT 1 FROM main.journal_ends WHERE cut_seq = number AND cut_hash = hash)
		FROM home.heads WHERE `+ofJournal).Scan(&same)
	if err != nil {
		return fmt.Errorf("read the end of the journal: %w", err)
	}
	if same {
		for _, move := range []string{
			`INSERT INTO home.journal SELECT * FROM main.journal WHERE seq > (SELECT number FROM home.heads WHERE ` + ofJournal + `)`,
			// Main's newest record of a cut is now the newest of both: home's records are main's too, or were cut off there.
			`UPDATE home.journal_ends SET cut_seq = m.cut_seq, cut_hash = m.cut_hash FROM main.journal_ends m`,
			`DELETE FROM home.journal WHERE seq <= (SELECT cut_seq FROM home.journal_ends)`,
			`INSERT OR REPLACE INTO home.heads SELECT * FROM main.heads WHERE ` + ofJournal,
		} {
			if _, err := tx.ExecContext(ctx, move); err != nil {
				return fmt.Errorf("write the journal: %w", err)
			}
		}
		return nil
	}
	var records []Record
	err = eachRecord(ctx, tx, func(r *Record) error {
		records = append(records, *r)
		return nil
	}, `SELECT m.seq, m.at, m.kind, m.task_id, m.ask_id, m.server, m.body, m.hash
		FROM main.journal m LEFT JOIN home.journal h ON h.seq = m.seq AND h.hash = m.hash WHERE h.seq IS NULL AND m.kind <> ? ORDER BY m.seq`, protocol.JournalRecordsRemoved)
	if err != nil {
		return err
	}
	return appendJournalTo(ctx, tx, "home.", records)
}
