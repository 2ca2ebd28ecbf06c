package protocol

import "encoding/json"

// UnmarshalJSON implements json.Unmarshaler. Annotations are hints, so that one of another shape is ignored, and the block
// is shown without it.
func (a *Annotations) UnmarshalJSON(data []byte) error {
	*a = Annotations{}
	var members struct {
		Audience json.RawMessage `json:"audience"`
		Priority json.RawMessage `json:"priority"`
	}
	if json.Unmarshal(data, &members) != nil {
		return nil
	}
	var audience []Role
	if json.Unmarshal(members.Audience, &audience) == nil {
		a.Audience = audience
	}
	var priority *float64
	if json.Unmarshal(members.Priority, &priority) == nil {
		a.Priority = priority
	}
	return nil
}
