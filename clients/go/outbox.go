package redial

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
)

// Outbox submits calls within a transaction of your own database.
//
// Submit writes a call as a row, in your transaction. A [Relay] submits the rows to Redial and deletes them. So the call is made
// if the transaction commits, and only then. docs/outbox.md has the rules of the table.
type Outbox struct {
	dialect Dialect
}

// NewOutbox returns an outbox in a database of this kind. Make its tables once, with [Dialect.Tables].
func NewOutbox(dialect Dialect) (*Outbox, error) {
	if dialect.Tables() == nil {
		return nil, fmt.Errorf("the dialect of an outbox is %s, %s or %s, unlike %q", PostgreSQL, MySQL, SQLite, string(dialect))
	}
	return &Outbox{dialect: dialect}, nil
}

// OutboxTx is what executes a statement: a [sql.Tx], or a [sql.Conn] on which you have begun a transaction yourself. Also a
// [sql.DB], for a call that belongs to no change: the row is a transaction of its own then.
type OutboxTx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// OutboxOptions: what [Outbox.Submit] takes besides; nil for none.
type OutboxOptions struct {
	// A key of your own, of 1 to 255 visible ASCII characters; by default a new one.
	IdempotencyKey IdempotencyKey
}

// The service takes spaces too, but a database may cut them off at the end.
var outboxKey = regexp.MustCompile(`^[!-~]{1,255}$`)

// Submit writes a call into the outbox, in this transaction, and returns its idempotency key.
//
// The call is made if you commit, and only then. You can find it by its key, in ListOptions.IdempotencyKey. Only that it can be
// JSON is checked here; [Client.SubmitDryRun] checks the rest.
func (o *Outbox) Submit(ctx context.Context, tx OutboxTx, call CallDescriptor, options *OutboxOptions) (string, error) {
	if options == nil {
		options = &OutboxOptions{}
	}
	key := options.IdempotencyKey.text
	if !options.IdempotencyKey.isGiven {
		var err error
		if key, err = newKey(); err != nil {
			return "", err
		}
	}
	if !outboxKey.MatchString(key) {
		return "", fmt.Errorf("an idempotency key in an outbox has 1 to 255 visible ASCII characters, unlike %q", key)
	}
	// A row may be submitted twice. That must not run a call again that has failed or was cancelled meanwhile.
	if call.OnRepeat == "" {
		call.OnRepeat = CallDescriptorOnRepeatAnswer
	}
	text, err := encoded(call)
	if err != nil {
		return "", err
	}
	if _, err := tx.ExecContext(ctx, o.dialect.insert(), key, inASCII(string(text))); err != nil {
		return "", fmt.Errorf("the call was not written into redial_outbox: %w", err)
	}
	return key, nil
}

// inASCII is JSON in ASCII, so that no connection with another character set changes the text.
func inASCII(json string) string {
	var text strings.Builder
	for _, character := range json {
		if character < 0x7f {
			text.WriteRune(character)
			continue
		}
		for _, unit := range utf16.Encode([]rune{character}) {
			fmt.Fprintf(&text, `\u%04x`, unit)
		}
	}
	return text.String()
}
