package redial

import (
	"context"
	"errors"
	"sync"
	"time"
)

// The service sends something every 15 seconds; after three times as long a connection is dead.
const eventSilence = 45 * time.Second

// EventsOptions are conditions of the event stream; all must hold. Nil for none.
type EventsOptions struct {
	// Only events of these types.
	Type   []EventType
	Target string
	// Only events of the call with this id.
	Call string
	// Only events of calls with this label, as NAME=VALUE.
	Label string
	// Events of calls of clients, the default, or of webhooks.
	Kind CallKind
	// Only events of calls of which at least so many attempts had begun.
	Attempts int
	// Only events of calls that waited for this.
	WaitingOn WaitReason
	// Begin after this event: the LastEventID of an earlier stream.
	LastEventID string
}

// EventStream gives the events of a service, one after the other. It reconnects by itself, without missing events, for as long
// as that takes; an event reset says that events were missed all the same.
//
//	events, err := client.Events(ctx, nil)
//	if err != nil {
//		return err
//	}
//	defer events.Close()
//	for events.Next(ctx) {
//		fmt.Println(events.Value().Type)
//	}
//	return events.Err()
type EventStream struct {
	client  *Client
	request *request
	// What Close ends.
	ctx   context.Context
	close context.CancelFunc

	mutex  sync.Mutex
	lastID string

	connection *connection
	losses     int
	value      Event
	err        error
}

// connection is one connection of a stream.
type connection struct {
	patience *patience
	events   *serverSentEvents
	close    func() error
}

func (c *connection) end() {
	c.patience.end()
	_ = c.close()
}

// Events connects to the event stream, and returns once the service listens, so no later event is missed. The first connection
// is made as other requests are. Close the stream at its end.
func (c *Client) Events(ctx context.Context, options *EventsOptions) (*EventStream, error) {
	if options == nil {
		options = &EventsOptions{}
	}
	request := asking("GET", "/v1/events")
	request.ask("type", options.Type)
	request.ask("target", options.Target)
	request.ask("call", options.Call)
	request.ask("label", options.Label)
	request.ask("kind", options.Kind)
	request.ask("attempts", options.Attempts)
	request.ask("waitingOn", options.WaitingOn)
	request.field("Accept", "text/event-stream")
	request.isStream = true
	stream := &EventStream{client: c, request: request, lastID: options.LastEventID}
	stream.ctx, stream.close = context.WithCancel(context.Background())
	connection, err := stream.connect(ctx)
	if err != nil {
		stream.close()
		return nil, err
	}
	stream.connection = connection
	return stream, nil
}

// Next waits for the next event, and says whether there is one: it is false after Close, after an error, and at the end of the
// context. After the end of a context, another Next goes on, and misses no event.
func (s *EventStream) Next(ctx context.Context) bool {
	s.err = nil
	for s.ctx.Err() == nil {
		event, err := s.next(ctx)
		if err == nil && event != nil {
			s.value = *event
			return true
		}
		if err != nil {
			s.drop()
			if s.ctx.Err() == nil {
				s.err = err
			}
			return false
		}
	}
	s.drop()
	return false
}

// Value is the event that Next has found.
func (s *EventStream) Value() Event { return s.value }

// Err is the error that the last Next ended with; nil after Close.
func (s *EventStream) Err() error { return s.err }

// LastEventID is the id from which another stream can go on, after all events that this one has given.
func (s *EventStream) LastEventID() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.lastID
}

// Close ends the stream. A Next that waits in another goroutine returns false.
func (s *EventStream) Close() { s.close() }

// next is the next event, or nil if the connection was lost.
func (s *EventStream) next(ctx context.Context) (*Event, error) {
	if s.connection == nil {
		connection, err := s.reconnect(ctx)
		if err != nil {
			return nil, err
		}
		s.connection = connection
	}
	connection := s.connection
	stop := during(ctx, connection.patience.cancel)
	event, err := connection.events.next()
	stop()
	if s.ctx.Err() != nil {
		return nil, s.ctx.Err()
	}
	s.mutex.Lock()
	s.lastID = connection.events.lastID
	s.mutex.Unlock()
	if err == nil {
		s.losses = 0
		return event, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// The service stops, or the connection is lost; the next one goes on after the last event.
	s.drop()
	wait := backoff(s.losses)
	s.losses++
	return nil, s.sleep(ctx, wait)
}

// reconnect connects again. It waits for a service that restarts, also behind a proxy, for as long as it takes.
func (s *EventStream) reconnect(ctx context.Context) (*connection, error) {
	for {
		connection, err := s.connect(ctx)
		if err == nil || ctx.Err() != nil || s.ctx.Err() != nil || !isPassing(err) {
			return connection, err
		}
		wait := backoff(10)
		var problem *Problem
		if errors.As(err, &problem) {
			wait = most(wait, problem.RetryAfter)
		}
		if err := s.sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// connect connects as other requests are sent.
func (s *EventStream) connect(ctx context.Context) (*connection, error) {
	if s.request.err != nil {
		return nil, s.request.err
	}
	retrying := &retrying{limits: s.client.limits, request: s.request, service: s.client.service}
	for {
		connection, answer, err := s.attempt(ctx)
		if connection != nil {
			return connection, nil
		}
		var wait time.Duration
		if err != nil && ctx.Err() != nil {
			return nil, retrying.connectionError(ctx.Err())
		} else if err != nil {
			wait, err = retrying.afterError(err, forever)
		} else {
			wait, err = retrying.afterAnswer(answer, forever)
		}
		if err != nil {
			return nil, err
		}
		if err := s.sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// attempt connects once: to the stream, or to an answer that is none.
func (s *EventStream) attempt(ctx context.Context) (*connection, *answer, error) {
	patience := newPatience(s.ctx, eventSilence)
	defer during(ctx, patience.cancel)()
	s.request.header.Del("Last-Event-ID")
	s.request.field("Last-Event-ID", s.LastEventID())
	response, err := s.client.begin(patience, s.request)
	if err != nil {
		patience.end()
		return nil, nil, err
	}
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		events := newServerSentEvents(patience.heardFrom(response.Body), s.LastEventID())
		return &connection{patience, events, response.Body.Close}, nil, nil
	}
	answer, err := answerOf(patience, response)
	patience.end()
	return nil, answer, err
}

func (s *EventStream) drop() {
	if s.connection != nil {
		s.connection.end()
		s.connection = nil
	}
}

// sleep waits, unless the context ends or the stream is closed.
func (s *EventStream) sleep(ctx context.Context, wait time.Duration) error {
	one, cancel := context.WithCancel(s.ctx)
	defer cancel()
	defer during(ctx, cancel)()
	if err := sleep(one, wait); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}

// during cancels something at the end of a context, until it is stopped.
func during(ctx context.Context, cancel func()) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	stopped := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			cancel()
		case <-stopped:
		}
	}()
	return func() { close(stopped) }
}
