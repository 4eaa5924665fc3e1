package redial

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
)

// The parts of a batch. A part may be written as a whole before its answers are read, and the service stops reading while its
// answers are not read. 64 KiB fit into the buffers of a connection, so neither side ever waits for the other.
const partLines, partBytes = 1000, 64 * 1024

// CallSource gives one call after the other, and io.EOF at the end.
type CallSource func() (CallDescriptor, error)

// Calls is a source of these calls.
func Calls(calls ...CallDescriptor) CallSource {
	next := 0
	return func() (CallDescriptor, error) {
		if next == len(calls) {
			return CallDescriptor{}, io.EOF
		}
		next++
		return calls[next-1], nil
	}
}

// BatchOptions: what [Client.Batch] takes besides; nil for none.
type BatchOptions struct {
	// The same key and calls submitted again within a day return the first calls, and run those again that have failed or
	// were cancelled. At most 230 characters.
	IdempotencyKey IdempotencyKey
}

// Batch submits any number of calls, and gives the result of each, in order; nothing is sent before you iterate.
//
// A result has the status that a single submission would have been answered with, its line (its number, from 1), and an id or a
// problem. A call that is refused stops nothing. The calls are taken one by one, and sent in parts of at most 1,000 calls and
// 64 KiB. After an error, another Next sends the same part again, with the same key.
func (c *Client) Batch(calls CallSource, options *BatchOptions) *Iterator[BatchItem] {
	if options == nil {
		options = &BatchOptions{}
	}
	key := options.IdempotencyKey
	if !key.isGiven {
		text, err := newKey()
		if err != nil {
			return &Iterator[BatchItem]{fetch: func(context.Context) ([]BatchItem, bool, error) { return nil, false, err }}
		}
		key = Key(text)
	}
	parts := &parts{calls: calls}
	return &Iterator[BatchItem]{fetch: func(ctx context.Context) ([]BatchItem, bool, error) {
		// An empty key is refused before its first part has a number.
		if _, err := keyField(key); err != nil {
			return nil, false, err
		}
		part, err := parts.next()
		if part == nil {
			return nil, err == nil, err
		}
		items, err := c.part(ctx, part, key)
		if err != nil {
			return nil, false, err
		}
		parts.current = nil
		return items, false, nil
	}}
}

// part is some lines of a batch, which are sent in one request.
type part struct {
	first int
	lines [][]byte
	size  int
}

// parts cuts a batch into parts, line by line.
type parts struct {
	calls CallSource
	// The part that is being sent, and the lines behind it.
	current *part
	rest    part
	isOver  bool
}

// next is the part that was not sent yet; nil at the end.
func (p *parts) next() (*part, error) {
	for p.current == nil && !p.isOver {
		call, err := p.calls()
		if err == io.EOF {
			p.isOver = true
			p.current = p.cut()
			break
		}
		if err != nil {
			return nil, err
		}
		line, err := encoded(call)
		if err != nil {
			return nil, err
		}
		if len(p.rest.lines) == partLines || p.rest.size+len(line)+1 > partBytes {
			p.current = p.cut()
		}
		p.rest.lines = append(p.rest.lines, line)
		p.rest.size += len(line) + 1
	}
	return p.current, nil
}

func (p *parts) cut() *part {
	if len(p.rest.lines) == 0 {
		return nil
	}
	done := p.rest
	p.rest = part{first: done.first + len(done.lines)}
	return &done
}

// part sends a part until all of its calls have results. It has the same key each time, so that sending it again submits
// nothing twice.
func (c *Client) part(ctx context.Context, part *part, key IdempotencyKey) ([]BatchItem, error) {
	request := asking("POST", "/v1/calls/batch")
	request.body = append(bytes.Join(part.lines, []byte("\n")), '\n')
	request.field("Content-Type", "application/x-ndjson")
	request.field("Prefer", "return=minimal")
	request.identify(Key(key.text + "/" + strconv.Itoa(part.first)))
	retrying := &retrying{limits: c.limits, request: request, service: c.service}
	longest := 0
	for {
		answer, err := c.send(ctx, request, time.Time{})
		if err != nil {
			return nil, err
		}
		items, end, err := batchItems(answer, len(part.lines))
		if err != nil {
			return nil, err
		}
		if end == nil {
			for number := range items {
				items[number].Line += part.first
			}
			return items, nil
		}
		// Calls that were accepted are recognized by their keys when the part is sent again.
		if len(items) > longest {
			longest = len(items)
			retrying.progressed()
		}
		wait, err := retrying.afterProblem(end, forever)
		if err != nil {
			return nil, err
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// batchItems are the results of that many calls; fewer only if the service ended the stream early, and says why.
func batchItems(answer *answer, count int) ([]BatchItem, *Problem, error) {
	items := []BatchItem{}
	for _, line := range bytes.Split(answer.body, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		item := BatchItem{}
		if json.Unmarshal(line, &item) != nil {
			return nil, nil, unexpected(answer.status, answer.body)
		}
		items = append(items, item)
	}
	if last := len(items) - 1; last >= 0 && items[last].Line == 0 {
		end := items[last].Problem
		if end == nil {
			end = &Problem{}
		}
		end.Status = items[last].Status
		for name, value := range items[last].Headers {
			if strings.EqualFold(name, "Retry-After") {
				end.RetryAfter = seconds(value)
			}
		}
		return items[:last], end, nil
	}
	if len(items) != count {
		return nil, nil, unexpected(answer.status, answer.body)
	}
	return items, nil, nil
}
