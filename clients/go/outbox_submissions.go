package redial

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
)

// Statuses of a submission that is refused for good. All others are no fault of the row: the service is away, or is not set up
// as it should be, such as with 401.
var finalStatuses = map[int]bool{400: true, 409: true, 413: true, 422: true, 508: true}

// These have such a status, and concern every row. A problem without a code is not Redial's.
var notOfTheRow = map[string]bool{"invalidNamespace": true, "hostEmpty": true, "": true}

type outboxRow struct {
	id        int64
	key, text string
}

type refusedRow struct {
	outboxRow
	code, detail string
}

// submissions submits rows, and has their results. Rows that are neither accepted nor refused are still to be submitted.
type submissions struct {
	client  *Client
	workers int

	mutex    sync.Mutex
	accepted []outboxRow
	refused  []refusedRow
	// The last error because of which rows are left.
	err error
	// After which time to go on, if the service says so.
	retryAfter time.Duration
	// Errors since the last answer that was none.
	failures int
}

// submit submits rows, those with the same ordering key one after the other. When the context ends, it begins no other one, and
// waits for those in flight.
func (s *submissions) submit(ctx context.Context, rows []outboxRow) {
	waiting := make(chan []outboxRow, len(rows))
	for _, chain := range chains(rows) {
		waiting <- chain
	}
	close(waiting)
	var working sync.WaitGroup
	for number := 0; number < s.workers && number < len(rows); number++ {
		working.Add(1)
		go func() {
			defer working.Done()
			for chain := range waiting {
				s.submitInOrder(ctx, chain)
			}
		}()
	}
	working.Wait()
}

func (s *submissions) submitInOrder(ctx context.Context, chain []outboxRow) {
	for _, row := range chain {
		// One row with which the service has trouble must not hold up all others.
		if s.isEnough() || ctx.Err() != nil || !s.finish(row, s.send(ctx, row)) {
			return
		}
	}
}

func (s *submissions) isEnough() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.failures >= s.workers
}

// invalidRowKey says that no request can have the key of a row.
type invalidRowKey struct{ error }

// send submits a row once.
func (s *submissions) send(ctx context.Context, row outboxRow) error {
	field, err := keyField(Key(row.key))
	if err != nil {
		return invalidRowKey{err}
	}
	request := asking("POST", "/v1/calls")
	// As it was written: another text under the same key would be another call.
	request.body = []byte(row.text)
	request.field("Content-Type", "application/json")
	request.field("Idempotency-Key", field)
	answer, err := s.client.send(lasting{ctx}, request, time.Now())
	if err != nil {
		return err
	}
	// A proxy, or a service of another kind, must not make the row go.
	var call struct{ ID string }
	if json.Unmarshal(answer.body, &call) != nil || !strings.HasPrefix(call.ID, "call_") {
		return unexpected(answer.status, answer.body)
	}
	return nil
}

// finish notes the result of a row, and returns whether those after it may follow.
func (s *submissions) finish(row outboxRow, err error) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var key invalidRowKey
	var problem *Problem
	switch isProblem := errors.As(err, &problem); {
	case err == nil:
		s.accepted = append(s.accepted, row)
	case errors.As(err, &key):
		s.refused = append(s.refused, refusedRow{row, "invalidIdempotencyKey", plain(err.Error(), longestDetail)})
		return true
	case isProblem && finalStatuses[problem.Status] && !notOfTheRow[problem.Code]:
		s.refused = append(s.refused, refusedRow{row, plain(problem.Code, longestCode), plain(first(problem.Detail, problem.Title), longestDetail)})
	default:
		s.failures++
		s.err = err
		if isProblem && problem.RetryAfter > s.retryAfter {
			s.retryAfter = problem.RetryAfter
		}
		return false
	}
	s.failures = 0
	return true
}

// How much of a problem is stored.
const longestCode, longestDetail = 255, 10_000

// plain is the beginning of a text, as every database can store it, whatever its character set.
func plain(text string, length int) string {
	return beginning(strings.Map(func(character rune) rune {
		if character < ' ' && character != '\n' || character > '~' {
			return '?'
		}
		return character
	}, text), length)
}

// chains are the rows of each ordering key in their order, and each other row by itself.
func chains(rows []outboxRow) [][]outboxRow {
	found := [][]outboxRow{}
	places := map[string]int{}
	for _, row := range rows {
		key, hasKey := orderingKey(row.text)
		place, isKnown := places[key]
		if hasKey && isKnown {
			found[place] = append(found[place], row)
			continue
		}
		if hasKey {
			places[key] = len(found)
		}
		found = append(found, []outboxRow{row})
	}
	return found
}

func orderingKey(text string) (string, bool) {
	// Not a struct: Go would take a member with other capitals for it.
	var members map[string]json.RawMessage
	var key *string
	if json.Unmarshal([]byte(text), &members) != nil || json.Unmarshal(members["orderingKey"], &key) != nil || key == nil {
		return "", false // If something is wrong with it, the service says so.
	}
	return *key, true
}

// lasting is a context that goes on after the end of another one, with its values: what has begun is ended in order.
type lasting struct{ of context.Context }

func (lasting) Deadline() (time.Time, bool) { return time.Time{}, false }
func (lasting) Done() <-chan struct{}       { return nil }
func (lasting) Err() error                  { return nil }
func (l lasting) Value(key any) any         { return l.of.Value(key) }
