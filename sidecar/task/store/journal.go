package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assent/protocol"
)

// ofJournal is the condition for the row of heads with the number and the hash of the newest record.
const ofJournal = `task_id = '' AND message_id = 0`

// Record is one entry of the journal. The store sets Seq and Hash.
type Record struct {
	Seq int64
	// At is in milliseconds since the Unix epoch.
	At   int64
	Kind string
	// TaskID, AskID and Server are empty if the record concerns none.
	TaskID, AskID, Server string
	// Body is the JSON as written.
	Body string
	// Hash is in hexadecimal; see [Record.Follow].
	Hash string
}

// Follow returns the hash of a record that follows the one with the hash prev: SHA-256 over prev and the
// record's columns in order, each preceded by its length in bytes and a colon.
func (r *Record) Follow(prev string) string {
	text := make([]byte, 0, len(prev)+len(r.Body)+256)
	column := func(value string) {
		text = strconv.AppendInt(text, int64(len(value)), 10)
		text = append(text, ':')
		text = append(text, value...)
	}
	column(prev)
	column(strconv.FormatInt(r.Seq, 10))
	column(strconv.FormatInt(r.At, 10))
	column(r.Kind)
	column(r.TaskID)
	column(r.AskID)
	column(r.Server)
	column(r.Body)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Ends are where the journal begins and ends.
type Ends struct {
	// CutSeq and CutHash are of the last record that was cut off; 0 and empty if none was. The newest
	// [Cut] in the journal has the same values.
	CutSeq  int64
	CutHash string
	// LastSeq and LastHash are of the newest record.
	LastSeq  int64
	LastHash string
}

// appendJournal extends the chain within a transaction, which has the writer's lock, so no other
// process extends it. Its cost does not depend on the length of the journal.
func appendJournal(ctx context.Context, tx writer, records []Record) error {
	return appendJournalTo(ctx, tx, "main.", records)
}

// appendJournalTo is appendJournal for one of the databases of a connection.
func appendJournalTo(ctx context.Context, tx writer, database string, records []Record) error {
	if len(records) == 0 {
		return nil
	}
	var end link
	if err := tx.QueryRowContext(ctx, `SELECT number, hash FROM `+database+`heads WHERE `+ofJournal).Scan(&end.seq, &end.hash); err != nil {
		return fmt.Errorf("read the end of the journal: %w", err)
	}
	end, err := addRecords(ctx, tx, database, end, records)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE `+database+`heads SET number = ?, hash = ? WHERE `+ofJournal, end.seq, end.hash); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// link is the part of a record that the next one refers to.
type link struct {
	seq  int64
	hash string
}

// addRecords extends the chain after its end, and returns its new end, which the caller writes.
func addRecords(ctx context.Context, tx writer, database string, end link, records []Record) (link, error) {
	for _, r := range records {
		r.Seq = end.seq + 1
		end = link{r.Seq, r.Follow(end.hash)}
		_, err := tx.ExecContext(ctx, `INSERT INTO `+database+`journal (seq, at, kind, task_id, ask_id, server, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			r.Seq, r.At, r.Kind, r.TaskID, r.AskID, r.Server, r.Body, end.hash)
		if err != nil {
			return end, fmt.Errorf("write the journal: %w", err)
		}
	}
	return end, nil
}

// AppendJournal adds records without another change.
func (s *Store) AppendJournal(ctx context.Context, records ...Record) error {
	err := s.write(ctx, processDeath, func(w writer) error { return appendJournal(ctx, w, records) })
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// JournalFilter selects records. An empty field does not restrict the selection.
type JournalFilter struct {
	Server, TaskID, Kind string
	// Since selects records from that time on, in milliseconds since the Unix epoch.
	Since int64
	// Before selects records with a smaller number.
	Before int64
}

// where returns the conditions of an SQL query. Values are always parameters.
func (f JournalFilter) where() (string, []any) {
	conditions, args := []string{"1"}, []any(nil)
	add := func(condition string, arg any) {
		conditions, args = append(conditions, condition), append(args, arg)
	}
	if f.Server != "" {
		add("server = ?", f.Server)
	}
	if f.TaskID != "" {
		add("task_id = ?", f.TaskID)
	}
	if f.Kind != "" {
		add("kind = ?", f.Kind)
	}
	if f.Since != 0 {
		add("at >= ?", f.Since)
	}
	if f.Before != 0 {
		add("seq < ?", f.Before)
	}
	return strings.Join(conditions, " AND "), args
}

// errEnough ends the reading of records.
var errEnough = errors.New("enough")

// Journal returns the newest records that a filter selects, in ascending order: at most limit records
// and, except for the first, at most that many bytes. It reports whether there are earlier ones.
func (s *Store) Journal(ctx context.Context, f JournalFilter, limit, bytes int) (records []Record, earlier bool, err error) {
	where, args := f.where()
	err = eachRecord(ctx, s.db, func(r *Record) error {
		bytes -= len(r.Body)
		if len(records) == limit || bytes < 0 && len(records) > 0 {
			earlier = true
			return errEnough
		}
		records = append(records, *r)
		return nil
	}, `SELECT seq, at, kind, task_id, ask_id, server, body, hash FROM journal WHERE `+where+` ORDER BY seq DESC`, args...)
	if err != nil && !errors.Is(err, errEnough) {
		return nil, false, err
	}
	slices.Reverse(records)
	return records, earlier, nil
}

// JournalTasks returns the ids of at most limit tasks that have records and an id with this beginning, the shortest first.
func (s *Store) JournalTasks(ctx context.Context, beginning string, limit int) (ids []string, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT DISTINCT task_id FROM journal WHERE substr(task_id, 1, length(?1)) = ?1 ORDER BY length(task_id), task_id LIMIT ?2`, beginning, limit)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("read the journal: %w", err)
		}
		if id == beginning {
			return []string{id}, nil
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// EachJournal calls begin with the ends of the journal, and each with every record that a filter selects,
// in ascending order, all from one snapshot. It stops at the first error of either. A record is valid
// until each returns.
func (s *Store) EachJournal(ctx context.Context, f JournalFilter, begin func(Ends) error, each func(*Record) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	var ends Ends
	err = tx.QueryRowContext(ctx, `SELECT cut_seq, cut_hash, number, hash FROM journal_ends CROSS JOIN heads WHERE `+ofJournal).
		Scan(&ends.CutSeq, &ends.CutHash, &ends.LastSeq, &ends.LastHash)
	if err != nil {
		return fmt.Errorf("read the ends of the journal: %w", err)
	}
	if err := begin(ends); err != nil {
		return err
	}
	where, args := f.where()
	return eachRecord(ctx, tx, each, `SELECT seq, at, kind, task_id, ask_id, server, body, hash FROM journal WHERE `+where+` ORDER BY seq`, args...)
}

func eachRecord(ctx context.Context, q querier, each func(*Record) error, query string, args ...any) (err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r Record
		if err := rows.Scan(&r.Seq, &r.At, &r.Kind, &r.TaskID, &r.AskID, &r.Server, &r.Body, &r.Hash); err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
		if err := each(&r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	return nil
}

// Cut is the body of a record of the kind [protocol.JournalRecordsRemoved]: it names the records that retention removed
// from the front. The newest Cut says where the journal begins.
type Cut struct {
	// ThroughSeq and ThroughHash are of the last record that was removed.
	ThroughSeq  int64  `json:"throughSeq"`
	ThroughHash string `json:"throughHash"`
	// Count is how many were removed now.
	Count int64 `json:"count"`
}

// addCut adds the record of a cut to the chain, within the transaction that cuts. At is in milliseconds since the Unix
// epoch.
func addCut(ctx context.Context, tx writer, at int64, cut Cut) error {
	body, err := json.Marshal(cut)
	if err != nil {
		return fmt.Errorf("encode the record of removed records: %w", err)
	}
	return appendJournal(ctx, tx, []Record{{At: at, Kind: string(protocol.JournalRecordsRemoved), Body: string(body)}})
}

// cutBatch is the number of records that one transaction cuts off, so that other writers do not wait for long.
const cutBatch = 500

// CutJournal removes the records from the front that were written before a time, and returns their number. It stops at the
// first younger record, even if later ones have an older time because the clock was put back. Each cut adds a record with
// the time now; see [Cut]. Both times are in milliseconds since the Unix epoch.
func (s *Store) CutJournal(ctx context.Context, before, now int64) (int64, error) {
	var last int64 // the records of these cuts stay
	if err := s.db.QueryRowContext(ctx, `SELECT number FROM heads WHERE `+ofJournal).Scan(&last); err != nil {
		return 0, fmt.Errorf("read the end of the journal: %w", err)
	}
	var all int64
	for {
		n, err := s.cutJournal(ctx, before, last, now)
		all += n
		if err != nil || n < cutBatch {
			return all, err
		}
	}
}

// cutJournal cuts off at most cutBatch records, none after last, and returns how many.
func (s *Store) cutJournal(ctx context.Context, before, last, now int64) (count int64, err error) {
	err = s.write(ctx, processDeath, func(w writer) error {
		// The old records are those before the first young one.
		var cut Cut
		var others int64
		err := w.QueryRowContext(ctx, `
			WITH front AS (SELECT seq, at, kind FROM journal WHERE seq <= ? ORDER BY seq LIMIT ?),
				old AS (SELECT seq, kind FROM front WHERE seq < (SELECT COALESCE(MIN(seq), 9223372036854775807) FROM front WHERE at >= ?))
			SELECT COALESCE(MAX(seq), 0), COALESCE((SELECT hash FROM journal WHERE seq = (SELECT MAX(seq) FROM old)), ''),
				COUNT(*), COUNT(*) FILTER (WHERE kind <> ?) FROM old`,
			last, cutBatch, before, protocol.JournalRecordsRemoved).Scan(&cut.ThroughSeq, &cut.ThroughHash, &cut.Count, &others)
		if err != nil {
			return err
		}
		if others == 0 && cut.Count < cutBatch {
			return nil // removing the record of an earlier cut would only add another
		}
		// The end of the cut is the proof that the front is missing on purpose.
		if _, err := w.ExecContext(ctx, `UPDATE journal_ends SET cut_seq = ?, cut_hash = ?`, cut.ThroughSeq, cut.ThroughHash); err != nil {
			return err
		}
		if _, err := w.ExecContext(ctx, `DELETE FROM journal WHERE seq <= ?`, cut.ThroughSeq); err != nil {
			return err
		}
		count = cut.Count
		return addCut(ctx, w, now, cut)
	})
	if err != nil {
		return 0, fmt.Errorf("cut the journal: %w", err)
	}
	return count, nil
}
