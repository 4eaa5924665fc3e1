package redial

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"time"
)

// Other relays know these numbers: docs/outbox.md.
const relayHold, longestRelayHold, failuresOfAHolder = 10, 60, 3

// A Retry-After may be longer, such as one of a proxy.
const longestRelayWait = time.Minute

// How long a statement may take. A relay waits no longer for a database that is silent.
const longestStatement = 30 * time.Second

// SQLite takes up to 999 values in a statement, if it is old.
const largestRelayBatch = 500

// RelayOptions: what [Outbox.Relay] takes besides; nil for none.
type RelayOptions struct {
	// How many rows are read at once, and are in memory then; by default 100, at most 500.
	Batch int
	// How many submissions are in flight at once; by default 8.
	Workers int
	// How long to wait between two looks into an empty outbox; by default a second.
	Poll time.Duration
	// Receives what is to be known: rows that are refused, troubles and their ends; by default log.Print.
	Log func(message string)
}

// Relay submits the rows of an [Outbox] to Redial, and deletes those that it has accepted.
//
// There may be several relays for one outbox: one works and the others stand by. Nothing depends on that but the load: a row that
// is submitted twice is one call. A row that the service refuses for good stays, with problem_code and problem_detail. After all
// other errors of the service and of the database, the relay goes on, with backoff.
type Relay struct {
	client   *Client
	database *sql.DB
	dialect  Dialect
	options  RelayOptions
	woken    chan struct{}

	holder string
	// When it has taken or kept the hold; zero if it has none.
	heldAt   time.Time
	failures int
	trouble  string
}

// Relay returns a relay. It does nothing before its Run, and needs no more than two connections of the pool, each of which
// commits what is executed outside a transaction, as all do unless told otherwise.
func (o *Outbox) Relay(client *Client, database *sql.DB, options *RelayOptions) *Relay {
	r := &Relay{client: client, database: database, dialect: o.dialect, woken: make(chan struct{}, 1)}
	if options != nil {
		r.options = *options
	}
	if r.options.Batch <= 0 {
		r.options.Batch = 100
	}
	if r.options.Batch > largestRelayBatch {
		r.options.Batch = largestRelayBatch
	}
	if r.options.Workers <= 0 {
		r.options.Workers = 8
	}
	if r.options.Poll <= 0 {
		r.options.Poll = time.Second
	}
	if r.options.Log == nil {
		r.options.Log = func(message string) { log.Print(message) }
	}
	return r
}

// Run relays until the context ends. What is in flight then is ended in order, which takes a few seconds at most. Let it run
// once at a time.
func (r *Relay) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := r.turn(ctx)
		// After a failure, a commit is no reason to be faster.
		woken := r.woken
		if r.failures > 0 {
			woken = nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-woken:
		case <-timer.C:
		}
		timer.Stop()
	}
	r.release(ctx)
}

// Wake looks into the outbox at once. Call it after a commit of the same process; others are noticed soon, too.
func (r *Relay) Wake() {
	select {
	case r.woken <- struct{}{}:
	default: // It is awake.
	}
}

// RunOnce submits the rows that wait, and returns how many were accepted. The error says why some are left.
func (r *Relay) RunOnce(ctx context.Context) (int, error) {
	for accepted := 0; ; {
		count, done, err := r.round(ctx)
		if err != nil {
			return accepted, err
		}
		accepted += len(done.accepted)
		if done.err != nil {
			return accepted, done.err
		}
		if err := ctx.Err(); err != nil {
			return accepted, err
		}
		if count < r.options.Batch {
			return accepted, nil
		}
	}
}

// turn is one look into the outbox. It returns the time until the next one.
func (r *Relay) turn(ctx context.Context) time.Duration {
	count, done, err := 0, &submissions{}, error(nil)
	isHolder, err := r.holds(ctx)
	if err == nil {
		if !isHolder {
			r.failures = 0
			return r.options.Poll
		}
		count, done, err = r.round(ctx)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return 0
	case err != nil:
		r.heldAt = time.Time{}
		r.failures++
		r.say("the outbox is not relayed: " + err.Error())
		return backoff(r.failures - 1)
	case done.err != nil:
		// Some may have been accepted all the same; then there is no reason to be slow.
		wait := time.Duration(0)
		if len(done.accepted) > 0 {
			r.failures = 1
		} else {
			r.failures++
			wait = backoff(r.failures - 1)
		}
		r.say("rows of the outbox wait: " + done.err.Error())
		if r.failures >= failuresOfAHolder {
			// Another relay may reach the service, or have a key that is valid.
			r.release(ctx)
		}
		if done.retryAfter > wait {
			wait = done.retryAfter
		}
		if wait > longestRelayWait {
			wait = longestRelayWait
		}
		return wait
	}
	r.failures = 0
	r.say("")
	if count == r.options.Batch {
		return 0
	}
	return r.options.Poll
}

// round submits some rows and writes the results. It returns how many rows were read.
func (r *Relay) round(ctx context.Context) (int, *submissions, error) {
	done := &submissions{client: r.client, workers: r.options.Workers}
	rows, err := r.waiting(ctx)
	if err != nil || len(rows) == 0 {
		return 0, done, err
	}
	done.submit(ctx, rows)
	if len(done.accepted) > 0 {
		ids := make([]any, len(done.accepted))
		for number, row := range done.accepted {
			ids[number] = row.id
		}
		if err := r.execute(ctx, r.dialect.remove(len(ids)), ids...); err != nil {
			return 0, nil, err
		}
	}
	for _, row := range done.refused {
		if err := r.execute(ctx, r.dialect.refuse(), row.code, row.detail, row.id, row.text); err != nil {
			return 0, nil, err
		}
		r.options.Log(fmt.Sprintf("row %d of redial_outbox was refused: %s: %s Correct its descriptor and set problem_code to NULL, "+
			"or delete it.", row.id, row.code, row.detail))
	}
	return len(rows), done, nil
}

func (r *Relay) waiting(ctx context.Context) ([]outboxRow, error) {
	ctx, end := context.WithTimeout(ctx, longestStatement)
	defer end()
	found, err := r.database.QueryContext(ctx, r.dialect.waiting(r.options.Batch))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	rows := []outboxRow{}
	for found.Next() {
		row := outboxRow{}
		if err := found.Scan(&row.id, &row.key, &row.text); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// holds is whether this relay is the one that works.
func (r *Relay) holds(ctx context.Context) (bool, error) {
	start := time.Now()
	if !r.heldAt.IsZero() && start.Sub(r.heldAt) < relayHold*time.Second/3 {
		return true, nil
	}
	r.heldAt = time.Time{}
	if err := r.name(); err != nil {
		return false, err
	}
	holder, until, err := r.held(ctx)
	moment := time.Now().Unix()
	switch {
	case errors.Is(err, sql.ErrNoRows):
		if err := r.execute(ctx, r.dialect.firstHold(), r.holder, moment+relayHold); err != nil {
			return false, err
		}
	case err != nil:
		return false, err
	// A hold far in the future is one of a wrong clock.
	case holder != r.holder && moment <= until && until <= moment+longestRelayHold:
		return false, nil
	default:
		if err := r.execute(ctx, r.dialect.hold(), r.holder, moment+relayHold, holder, until); err != nil {
			return false, err
		}
		// Not the count of changed rows: MySQL does not count a row that stays as it was.
		if holder, _, err := r.held(ctx); err != nil || holder != r.holder {
			return false, err
		}
	}
	r.heldAt = start
	return true, nil
}

// name draws the name of this relay.
func (r *Relay) name() error {
	if r.holder != "" {
		return nil
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "go"
	}
	r.holder = fmt.Sprintf("%s-%d-%s", beginning(host, 100), os.Getpid(), key[:8])
	return nil
}

// release gives the hold away. Another relay need not wait for its end.
func (r *Relay) release(ctx context.Context) {
	if r.heldAt.IsZero() {
		return
	}
	r.heldAt = time.Time{}
	holder, until, err := r.held(lasting{ctx})
	if err == nil && holder == r.holder {
		err = r.execute(ctx, r.dialect.hold(), r.holder, 0, r.holder, until)
	}
	if err != nil {
		r.options.Log(fmt.Sprintf("the hold on the outbox ends by itself, in at most %d s: %v", relayHold, err))
	}
}

func (r *Relay) held(ctx context.Context) (holder string, until int64, err error) {
	ctx, end := context.WithTimeout(ctx, longestStatement)
	defer end()
	err = r.database.QueryRowContext(ctx, r.dialect.held()).Scan(&holder, &until)
	return holder, until, err
}

// execute changes rows, also when the context has ended: what is known is written.
func (r *Relay) execute(ctx context.Context, statement string, values ...any) error {
	ctx, end := context.WithTimeout(lasting{ctx}, longestStatement)
	defer end()
	_, err := r.database.ExecContext(ctx, statement, values...)
	return err
}

// say logs a trouble once, and its end.
func (r *Relay) say(trouble string) {
	if trouble != "" && trouble != r.trouble {
		r.options.Log(trouble)
	} else if r.trouble != "" && trouble == "" {
		r.options.Log("the outbox is relayed again")
	}
	r.trouble = trouble
}
