package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// Verified describes a valid journal.
type Verified struct {
	// Records is the number of records, and First and Last are the numbers of the oldest and the newest; 0 if there are
	// none.
	Records, First, Last int64
	// Cut is the number of older records that the retention setting has removed.
	Cut int64
	// Hash is the hash of the newest record. A person who notes it elsewhere can prove later that the chain is
	// unchanged.
	Hash string
}

// Broken is the first place at which the journal was altered.
type Broken struct {
	// Seq is the number of the record.
	Seq int64
	// Problem is a sentence for the person.
	Problem string
}

// Error implements error.
func (b *Broken) Error() string { return b.Problem }

// Verify follows the chain from its first record to its newest. The error is a [Broken] if the
// journal was altered; any other error means that it could not be read.
func Verify(ctx context.Context, s *store.Store) (*Verified, error) {
	var ends store.Ends
	var cut store.Cut // the newest cut
	v := &Verified{}
	seq, hash := int64(0), ""
	err := s.EachJournal(ctx, store.JournalFilter{}, func(e store.Ends) error {
		ends = e
		seq, hash = ends.CutSeq, ends.CutHash
		v.Cut, v.First = ends.CutSeq, ends.CutSeq+1
		return nil
	}, func(r *store.Record) error {
		if b := follows(r, seq, hash, ends); b != nil {
			return b
		}
		seq, hash = r.Seq, r.Hash
		v.Records++
		if r.Kind == string(protocol.JournalRecordsRemoved) {
			cut = store.Cut{}
			if err := json.Unmarshal([]byte(r.Body), &cut); err != nil {
				return &Broken{r.Seq, fmt.Sprintf("record %d does not say which records were removed, so Assent did not write it", r.Seq)}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch {
	case seq < ends.LastSeq:
		return nil, &Broken{seq + 1, fmt.Sprintf("%s missing: the newest that Assent wrote is record %d", records(seq+1, ends.LastSeq), ends.LastSeq)}
	case hash != ends.LastHash:
		return nil, &Broken{seq, fmt.Sprintf("record %d is not the one that Assent wrote last: it was altered, or replaced", seq)}
	}
	if b := beginsAfter(cut, ends); b != nil {
		return nil, b
	}
	v.Last, v.Hash = seq, hash
	if v.Records == 0 {
		v.First, v.Last = 0, 0
	}
	return v, nil
}

// beginsAfter compares the beginning of the journal with the newest record of a cut.
func beginsAfter(cut store.Cut, ends store.Ends) *Broken {
	switch {
	case cut.ThroughSeq == ends.CutSeq && cut.ThroughHash == ends.CutHash:
		return nil
	case cut.ThroughSeq < ends.CutSeq:
		problem := fmt.Sprintf("%s missing, and no record says that Assent removed them", records(cut.ThroughSeq+1, ends.CutSeq))
		return &Broken{cut.ThroughSeq + 1, problem}
	default:
		return &Broken{ends.CutSeq + 1, fmt.Sprintf("the journal begins after record %d, but Assent recorded that it begins after record %d", ends.CutSeq, cut.ThroughSeq)}
	}
}

// follows checks that a record follows the one with a number and a hash, and returns nil if it does.
func follows(r *store.Record, seq int64, hash string, ends store.Ends) *Broken {
	switch {
	case r.Seq <= seq:
		return &Broken{r.Seq, fmt.Sprintf("record %d was inserted: the journal begins with record %d", r.Seq, seq+1)}
	case r.Seq > ends.LastSeq:
		if seq < ends.LastSeq {
			return &Broken{seq + 1, fmt.Sprintf("%s missing: the newest that Assent wrote is record %d", records(seq+1, ends.LastSeq), ends.LastSeq)}
		}
		return &Broken{r.Seq, fmt.Sprintf("record %d was inserted: the newest that Assent wrote is record %d", r.Seq, ends.LastSeq)}
	case r.Seq > seq+1:
		return &Broken{seq + 1, fmt.Sprintf("%s missing: record %d comes after record %d", records(seq+1, r.Seq-1), r.Seq, seq)}
	case r.Follow(hash) != r.Hash:
		problem := fmt.Sprintf("record %d (%s of %s) was altered, or is not the one that Assent wrote here", r.Seq, r.Kind, time.UnixMilli(r.At).UTC().Format(time.RFC3339))
		if seq > ends.CutSeq {
			problem += fmt.Sprintf("; if it is as you know it, record %d before it was replaced together with its hash", seq)
		}
		return &Broken{r.Seq, problem}
	}
	return nil
}

func records(first, last int64) string {
	if first == last {
		return fmt.Sprintf("record %d is", first)
	}
	return fmt.Sprintf("records %d to %d are", first, last)
}
