package redial

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Ptr returns a pointer to a value, for numbers and flags that can be left out.
func Ptr[T any](value T) *T { return &value }

// Nullable is a member for which null and nothing mean two things: null takes away what is there, and a member that is left out
// changes nothing. Make it with [Value] or [Null]; nil leaves it out.
type Nullable[T any] []*T

// Value is a member with a value.
func Value[T any](value T) Nullable[T] { return Nullable[T]{&value} }

// Null is a member that takes away what is there.
func Null[T any]() Nullable[T] { return Nullable[T]{nil} }

// MarshalJSON writes the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if len(n) == 0 {
		return []byte("null"), nil
	}
	return encoded(n[0])
}

// UnmarshalJSON reads a value, or null.
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	*n = Nullable[T]{nil}
	if string(text) == "null" {
		return nil
	}
	return json.Unmarshal(text, &(*n)[0])
}

// IdempotencyKey is a key that makes a submission safe to repeat. Make it with [Key]; the zero value stands for a new one.
type IdempotencyKey struct {
	text    string
	isGiven bool
}

// Key is an idempotency key of your own, such as the number of an order: 1 to 255 printable ASCII characters. An empty one is
// refused, because it is a mistake that would submit a call twice.
func Key(text string) IdempotencyKey { return IdempotencyKey{text, true} }

// Duration is a duration as the service writes and reads it, such as 1m30s or 7d. [Span] makes one from Go's.
type Duration string

var spanParts = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(us|ms|s|m|h|d|w)`)

var spanUnits = map[string]time.Duration{
	"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	"w": 7 * 24 * time.Hour}

// Span is Go's duration as the service reads it: whole microseconds.
func Span(duration time.Duration) Duration {
	if duration < 0 {
		duration = 0
	}
	unit, name := time.Microsecond, "us"
	if duration%time.Second == 0 {
		unit, name = time.Second, "s"
	} else if duration%time.Millisecond == 0 {
		unit, name = time.Millisecond, "ms"
	}
	return Duration(strconv.FormatInt(int64(duration/unit), 10) + name)
}

// Parse returns Go's duration. It reads what the service writes, which has no ISO 8601.
func (d Duration) Parse() (time.Duration, error) {
	sum, rest := time.Duration(0), string(d)
	for rest != "" || d == "" {
		part := spanParts.FindStringSubmatch(rest)
		if part == nil {
			return 0, fmt.Errorf("%q is no duration such as 1m30s", string(d))
		}
		number, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(number * float64(spanUnits[part[2]]))
		rest = rest[len(part[0]):]
	}
	return sum, nil
}

// Moment is a time, or a duration from now such as 10m. Make it with [At] or [In], or write it as the service reads it.
type Moment string

// At is a time.
func At(moment time.Time) Moment { return Moment(timestamp(moment)) }

// In is a duration from now.
func In(duration time.Duration) Moment { return Moment(Span(duration)) }

func timestamp(moment time.Time) string { return moment.UTC().Format("2006-01-02T15:04:05.000Z") }

// Headers are header fields, each with its values. An http.Header can be converted to them.
type Headers map[string][]string

// MarshalJSON writes a field with one value as a text, and others as lists.
func (h Headers) MarshalJSON() ([]byte, error) {
	fields := map[string]any{}
	for name, values := range h {
		if fields[name] = values; len(values) == 1 {
			fields[name] = values[0]
		}
	}
	return encoded(fields)
}

// UnmarshalJSON reads fields with one or more values.
func (h *Headers) UnmarshalJSON(text []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	*h = Headers{}
	for name, field := range fields {
		values, err := oneOrMore(field)
		if err != nil {
			return err
		}
		(*h)[name] = values
	}
	return nil
}

// oneOrMore reads a text, a number, or a list of these.
func oneOrMore(text json.RawMessage) ([]string, error) {
	entries := []json.RawMessage{text}
	if bytes.HasPrefix(text, []byte("[")) {
		if err := json.Unmarshal(text, &entries); err != nil {
			return nil, err
		}
	}
	values := make([]string, len(entries))
	for number, entry := range entries {
		if !bytes.HasPrefix(entry, []byte(`"`)) {
			values[number] = string(entry)
		} else if err := json.Unmarshal(entry, &values[number]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// Statuses are statuses and ranges of them, such as 429 and 500-599. An empty list is not the same as none.
type Statuses []string

// UnmarshalJSON reads texts and numbers.
func (s *Statuses) UnmarshalJSON(text []byte) error {
	values, err := oneOrMore(text)
	*s = values
	return err
}

// CallStates are states of calls.
type CallStates []CallState

// UnmarshalJSON reads a state, or a list of them.
func (s *CallStates) UnmarshalJSON(text []byte) error {
	values, err := oneOrMore(text)
	*s = nil
	for _, value := range values {
		*s = append(*s, CallState(value))
	}
	return err
}

// PolicyOrName is a policy, or the name of a stored one. Make it with [PolicyOf] or [PolicyNamed].
type PolicyOrName struct {
	// The name of a stored policy, in its current version (patient) or in exactly one (patient@3).
	Name string
	// The policy itself, if it has no name.
	Policy *Policy
}

// PolicyOf is the policy itself.
func PolicyOf(policy Policy) *PolicyOrName { return &PolicyOrName{Policy: &policy} }

// PolicyNamed is a stored policy, by its name.
func PolicyNamed(name string) *PolicyOrName { return &PolicyOrName{Name: name} }

// MarshalJSON writes the name, or the policy.
func (p PolicyOrName) MarshalJSON() ([]byte, error) {
	if p.Policy != nil {
		return encoded(p.Policy)
	}
	return encoded(p.Name)
}

// UnmarshalJSON reads a name, or a policy.
func (p *PolicyOrName) UnmarshalJSON(text []byte) error {
	*p = PolicyOrName{}
	if strings.HasPrefix(string(text), `"`) {
		return json.Unmarshal(text, &p.Name)
	}
	return json.Unmarshal(text, &p.Policy)
}

// Call is the call of an event about one.
func (e *Event) Call() (*CallSummary, error) { return dataOf[CallSummary](e, "call.") }

// Target is the target of an event about one.
func (e *Event) Target() (*TargetEvent, error) { return dataOf[TargetEvent](e, "target.") }

// WebhookEndpoint is the endpoint of an event about one.
func (e *Event) WebhookEndpoint() (*WebhookEndpoint, error) {
	return dataOf[WebhookEndpoint](e, "endpoint.")
}

func dataOf[T any](event *Event, kind string) (*T, error) {
	if !strings.HasPrefix(string(event.Type), kind) {
		return nil, fmt.Errorf("an event %s has no data of the kind %s", event.Type, strings.TrimSuffix(kind, "."))
	}
	data := new(T)
	return data, json.Unmarshal(event.Data, data)
}

// encoded is a value as JSON, with the characters of HTML as they are.
func encoded(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
