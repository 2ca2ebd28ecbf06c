package protocol

import "fmt"

// ErrorCode is a JSON-RPC error code of this wire.
type ErrorCode int64

// The codes. Those above -32100 are defined by JSON-RPC and LSP.
const (
	CodeParseError           ErrorCode = -32700
	CodeInvalidRequest       ErrorCode = -32600
	CodeMethodNotFound       ErrorCode = -32601
	CodeInvalidParams        ErrorCode = -32602
	CodeInternalError        ErrorCode = -32603
	CodeServerNotInitialized ErrorCode = -32002
	CodeRequestCancelled     ErrorCode = -32800
	// CodeVersionMismatch: the two sides speak different versions of this wire.
	CodeVersionMismatch ErrorCode = -32100
	// CodeUnknownTask: no task has this id.
	CodeUnknownTask ErrorCode = -32101
	// CodeTaskClosed: the task can only be read.
	CodeTaskClosed ErrorCode = -32102
	// CodeUnknownAsk: the task has no ask with this id, or no unattributed request has it.
	CodeUnknownAsk ErrorCode = -32103
	// CodeAskSettled: another answer or event has settled the ask. Data is the [Outcome].
	CodeAskSettled ErrorCode = -32104
	// CodeInvalidAnswer: the answer violates the ask's rules; the ask is still open. Data is
	// [InvalidAnswerData].
	CodeInvalidAnswer ErrorCode = -32105
	// CodeUnknownServer: no MCP server has this name.
	CodeUnknownServer ErrorCode = -32106
	// CodeServerFailed: the MCP server cannot be reached; the message says why.
	CodeServerFailed ErrorCode = -32107
	// CodeUnavailable: the front end has no connection to the sidecar at present. Only hosts of
	// front ends return it.
	CodeUnavailable ErrorCode = -32108
	// CodeTaskBusy: the task is busy with something that has to end first; the message names it.
	CodeTaskBusy ErrorCode = -32110
	// CodeUnknownMcpTask: no MCP task has this id or an id with this prefix.
	CodeUnknownMcpTask ErrorCode = -32111
)

// InvalidAnswerData lists the problems of an answer.
type InvalidAnswerData struct {
	Problems []FieldProblem `json:"problems,omitempty"`
}

// FieldProblem is a problem of one field.
type FieldProblem struct {
	// Name is the field's name; empty if the problem is about the whole answer.
	Name    string `json:"name,omitempty"`
	Message string `json:"message"`
	// Keyword is the violated rule of the [Field]; absent if no keyword applies. A translated front end has its own
	// text for each keyword, and otherwise shows Message.
	Keyword Keyword `json:"keyword,omitempty"`
}

// Keyword is a keyword of JSON Schema that a value can violate.
type Keyword string

// The keywords.
const (
	// KeywordRequired: the value is absent.
	KeywordRequired Keyword = "required"
	// KeywordType: the value has another type, or has a fraction and must be an integer.
	KeywordType      Keyword = "type"
	KeywordMinLength Keyword = "minLength"
	KeywordMaxLength Keyword = "maxLength"
	KeywordFormat    Keyword = "format"
	KeywordPattern   Keyword = "pattern"
	KeywordMinimum   Keyword = "minimum"
	KeywordMaximum   Keyword = "maximum"
	// KeywordEnum: the value is not one of the options.
	KeywordEnum     Keyword = "enum"
	KeywordMinItems Keyword = "minItems"
	KeywordMaxItems Keyword = "maxItems"
)

// Error is a JSON-RPC error. Message is a sentence for the person; details for developers are in
// the sidecar's log.
type Error struct {
	Code    ErrorCode
	Message string
	Data    any
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Errorf makes an [Error] without data.
func Errorf(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
