package redial

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// What can have the transaction.
var _ = []OutboxTx{(*sql.Tx)(nil), (*sql.Conn)(nil), (*sql.DB)(nil)}

// written is what an outbox has executed.
type written struct {
	statement string
	values    []any
	err       error
}

func (w *written) ExecContext(_ context.Context, statement string, values ...any) (sql.Result, error) {
	w.statement, w.values = statement, values
	return nil, w.err
}

func outboxOf(t *testing.T, dialect Dialect) *Outbox {
	outbox, err := NewOutbox(dialect)
	if err != nil {
		t.Fatal(err)
	}
	return outbox
}

func TestAnOutboxWritesJSONInASCII(t *testing.T) {
	note := "é € 🙂 \u007f \\ \" <&>"
	for dialect, marks := range map[Dialect]string{PostgreSQL: "($1, $2)", MySQL: "(?, ?)", SQLite: "(?, ?)"} {
		tx := &written{}
		key, err := outboxOf(t, dialect).Submit(background, tx, CallDescriptor{URL: "https://a.example", JSON: note}, nil)
		if err != nil || len(key) != 32 || tx.values[0] != key || !strings.HasSuffix(tx.statement, " VALUES "+marks) {
			t.Fatal(key, err, tx)
		}
		text := tx.values[1].(string)
		if strings.IndexFunc(text, func(character rune) bool { return character < ' ' || character > '~' }) >= 0 {
			t.Errorf("not ASCII: %s", text)
		}
		call := CallDescriptor{}
		if err := json.Unmarshal([]byte(text), &call); err != nil || call.JSON != note || call.OnRepeat != "answer" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAnOutboxKeepsWhatIsGiven(t *testing.T) {
	tx := &written{}
	call := CallDescriptor{URL: "https://a.example", OnRepeat: CallDescriptorOnRepeatRerun}
	key, err := outboxOf(t, SQLite).Submit(background, tx, call, &OutboxOptions{IdempotencyKey: Key("charge-7")})
	if want := []any{"charge-7", `{"url":"https://a.example","onRepeat":"rerun"}`}; err != nil || key != "charge-7" || !reflect.DeepEqual(tx.values, want) {
		t.Fatal(key, err, tx)
	}
}

func TestAnOutboxRefusesMistakes(t *testing.T) {
	if _, err := NewOutbox("sqlite3"); err == nil || !strings.Contains(err.Error(), `postgresql, mysql or sqlite, unlike "sqlite3"`) {
		t.Error(err)
	}
	tx, outbox := &written{}, outboxOf(t, MySQL)
	for _, key := range []string{"", "a b", "é", strings.Repeat("a", 256)} {
		_, err := outbox.Submit(background, tx, CallDescriptor{URL: "https://a.example"}, &OutboxOptions{IdempotencyKey: Key(key)})
		if err == nil || !strings.Contains(err.Error(), "1 to 255") {
			t.Errorf("%q: %v", key, err)
		}
	}
	if _, err := outbox.Submit(background, tx, CallDescriptor{JSON: func() {}}, nil); err == nil {
		t.Error("what is no JSON was written")
	}
	if tx.statement != "" {
		t.Error(tx)
	}
	tx.err = errors.New("the disk is full")
	if _, err := outbox.Submit(background, tx, CallDescriptor{}, nil); !errors.Is(err, tx.err) {
		t.Error(err)
	}
}

func TestRowsOfAnOrderingKeyAreAChain(t *testing.T) {
	rows := []outboxRow{}
	for number, text := range []string{
		`{"orderingKey": "a"}`, `{}`, `{"orderingKey": "b"}`, `{"orderingkey": "a"}`, `{"orderingKey": "\u0061"}`, `{"orderingKey": null}`,
		`{"orderingKey": 1}`, `no JSON`, `{"orderingKey": ""}`, `{"orderingKey": ""}`, `{"orderingKey": "b"}`} {
		rows = append(rows, outboxRow{id: int64(number), text: text})
	}
	found := [][]int64{}
	for _, chain := range chains(rows) {
		ids := []int64{}
		for _, row := range chain {
			ids = append(ids, row.id)
		}
		found = append(found, ids)
	}
	if want := [][]int64{{0, 4}, {1}, {2, 10}, {3}, {5}, {6}, {7}, {8, 9}}; !reflect.DeepEqual(found, want) {
		t.Error(found)
	}
}
