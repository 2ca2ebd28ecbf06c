package protocol

import "encoding/json"

// JournalRecord is one entry of the journal: what happened to a request of a server, to a call or to a
// grant, and when. What looks like a secret is left out. It is also a line of an exported journal.
type JournalRecord struct {
	// Seq counts the records of a store from 1, without gaps.
	Seq  int64       `json:"seq"`
	At   int64       `json:"at"`
	Kind JournalKind `json:"kind"`
	// TaskID, AskID and ServerName are absent if the record is of none.
	TaskID     string `json:"taskId,omitempty"`
	AskID      string `json:"askId,omitempty"`
	ServerName string `json:"serverName,omitempty"`
	// Body is an object whose members depend on the kind, as docs/journal.md lists them.
	Body json.RawMessage `json:"body"`
	// Hash, in hexadecimal, is the SHA-256 of the record and of the one before it.
	Hash string `json:"hash"`
}

// JournalKind is what a record is about.
type JournalKind string

// The kinds.
const (
	// JournalCallStarted: a person or a model called a server, or a conversation took up an MCP task.
	JournalCallStarted JournalKind = "callStarted"
	// JournalCallTaskChanged: the MCP task that a call became has another status.
	JournalCallTaskChanged JournalKind = "callTaskChanged"
	// JournalCallEnded says how; JournalResultRemoved that the content of a result was removed later.
	JournalCallEnded     JournalKind = "callEnded"
	JournalResultRemoved JournalKind = "resultRemoved"
	// JournalAskOpened is what the person was shown, in full.
	JournalAskOpened   JournalKind = "askOpened"
	JournalAskExtended JournalKind = "askExtended"
	// JournalAskSettled is who or what decided, and what they edited.
	JournalAskSettled JournalKind = "askSettled"
	// JournalAskUndelivered: the server did not get the answer to a settled ask, or got it after all.
	JournalAskUndelivered JournalKind = "askUndelivered"
	// JournalSamplingMoved: an approved request went to another model, or to the person for review.
	JournalSamplingMoved JournalKind = "samplingMoved"
	// JournalSamplingEnded is what the server got, and what it took.
	JournalSamplingEnded JournalKind = "samplingEnded"
	JournalGrantCreated  JournalKind = "grantCreated"
	JournalGrantEnded    JournalKind = "grantEnded"
	// JournalRequestDenied: requests of a server were refused without asking anybody. There is one record a
	// minute and server at most, which counts them.
	JournalRequestDenied JournalKind = "requestDenied"
	// JournalRequestUnclaimed: a request that was of no conversation ended before a person had placed it, or
	// because they dismissed it. One that was placed is an [JournalAskOpened] like any other, whose
	// [Origin.PlacedBy] says so.
	JournalRequestUnclaimed JournalKind = "requestUnclaimed"
	// JournalToolRuleCreated and JournalToolRuleRemoved: the person had an answer about a tool remembered, or
	// took that back.
	JournalToolRuleCreated JournalKind = "toolRuleCreated"
	JournalToolRuleRemoved JournalKind = "toolRuleRemoved"
	// JournalServerDecided: the person decided whether a server may run as a file of the workspace configures it.
	JournalServerDecided JournalKind = "serverDecided"
	// JournalTaskDeleted and JournalTaskRestored: the person deleted a task, or took that back. What the journal
	// has of the task stays.
	JournalTaskDeleted  JournalKind = "taskDeleted"
	JournalTaskRestored JournalKind = "taskRestored"
	// JournalRecordsRemoved: the oldest records were removed, by the retention setting. The newest record of this kind
	// says where the journal begins.
	JournalRecordsRemoved JournalKind = "recordsRemoved"
)

// JournalSettings are of the journal.
type JournalSettings struct {
	// KeepDays is for how many days a record is kept; 0 keeps it for ever. Where the settings are absent it
	// is 90.
	KeepDays int `json:"keepDays"`
}

// ListJournalParams selects records. An absent member selects all.
type ListJournalParams struct {
	ServerName string      `json:"serverName,omitempty"`
	TaskID     string      `json:"taskId,omitempty"`
	Kind       JournalKind `json:"kind,omitempty"`
	// Since selects records of that time or later.
	Since int64 `json:"since,omitempty"`
	// Before selects records with a smaller number, to page backwards.
	Before int64 `json:"before,omitempty"`
	// Limit bounds how many are returned, the newest winning; 0 means 200, and 1000 is the most. Where they
	// are long there are fewer.
	Limit int `json:"limit,omitempty"`
}

// ListJournalResult holds a part of the journal.
type ListJournalResult struct {
	// Records are in ascending order of their numbers.
	Records []JournalRecord `json:"records,omitempty"`
	// Lines say for the person what each of them says, in the same order and the sidecar's time zone.
	Lines []string `json:"lines,omitempty"`
	// Earlier reports that there are selected records before them.
	Earlier bool `json:"earlier,omitempty"`
}
