// Transactions that write an order and its call, with drivers of database/sql; and a relay. See outbox_application.py.
//
//	outbox-application KIND PLACE TARGET some|many
//	outbox-application KIND PLACE "" relay|once
//	outbox-application KIND PLACE TARGET woken
//	outbox-application KIND "" "" tables
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/lib/pq"
	_ "github.com/mattn/go-sqlite3"
	redial "redial-client"
)

var kind, place, target, extent = os.Args[1], os.Args[2], os.Args[3], os.Args[4]

type kindOfDatabase struct {
	name, source, insert string
	dialect              redial.Dialect
}

var kinds = map[string]kindOfDatabase{
	"go-pq":    {"postgres", "user=postgres dbname=redial host=" + place, "INSERT INTO orders (name) VALUES ($1)", redial.PostgreSQL},
	"go-mysql": {"mysql", "root@unix(" + place + ")/shop?charset=utf8mb4", "INSERT INTO orders (name) VALUES (?)", redial.MySQL},
	"go-sqlite3": {"sqlite3", "file:" + place + "?_busy_timeout=60000&_txlock=immediate", "INSERT INTO orders (name) VALUES (?)",
		redial.SQLite},
}

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func main() {
	rand.Seed(time.Now().UnixNano())
	one := kinds[kind]
	database, err := sql.Open(one.name, one.source)
	must(err)
	outbox, err := redial.NewOutbox(one.dialect)
	must(err)
	switch extent {
	case "tables":
		must(json.NewEncoder(os.Stdout).Encode(one.dialect.Tables()))
	case "relay":
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		fmt.Println("relays")
		relay(database, outbox, 50*time.Millisecond).Run(ctx)
	case "once":
		fmt.Println(relay(database, outbox, time.Hour).RunOnce(context.Background()))
	case "woken":
		woken(database, outbox)
	case "some":
		for _, name := range []string{"first", "second-undone", "third-undone", "fourth"} {
			order, options := kind+"-"+name, (*redial.OutboxOptions)(nil)
			if name == "fourth" {
				options = &redial.OutboxOptions{IdempotencyKey: redial.Key(order)}
			}
			key, err := transaction(database, outbox, order, redial.CallDescriptor{}, options)
			must(err)
			fmt.Println(key)
		}
	default:
		many(database, outbox)
	}
}

func relay(database *sql.DB, outbox *redial.Outbox, poll time.Duration) *redial.Relay {
	client, err := redial.New(redial.Options{})
	must(err)
	return outbox.Relay(client, database, &redial.RelayOptions{Poll: poll})
}

// woken makes one transaction after the other, each when the call before it is relayed, with a relay that would not look by itself.
func woken(database *sql.DB, outbox *redial.Outbox) {
	ctx, stop := context.WithCancel(context.Background())
	running, ended := relay(database, outbox, time.Hour), make(chan bool)
	go func() {
		running.Run(ctx)
		close(ended)
	}()
	for _, name := range []string{"a", "b", "c"} {
		_, err := transaction(database, outbox, name, redial.CallDescriptor{}, nil)
		must(err)
		running.Wake()
		for count := 1; count > 0; time.Sleep(10 * time.Millisecond) {
			must(database.QueryRow("SELECT count(*) FROM redial_outbox").Scan(&count))
		}
	}
	stop()
	<-ended
}

func many(database *sql.DB, outbox *redial.Outbox) {
	for number := 0; ; number++ {
		order := fmt.Sprintf("%s-%d-%d%s", kind, os.Getpid(), number, []string{"", "", "-undone"}[rand.Intn(3)])
		call := redial.CallDescriptor{}
		if number%4 == 0 { // Some are to be made in their order.
			call.OrderingKey = fmt.Sprintf("%s-%d", kind, os.Getpid())
		}
		if _, err := transaction(database, outbox, order, call, nil); err != nil { // The database is away.
			fmt.Println(err)
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// transaction writes an order and its call: with a transaction, or with a connection that has begun one itself.
func transaction(
	database *sql.DB, outbox *redial.Outbox, order string, call redial.CallDescriptor, options *redial.OutboxOptions,
) (string, error) {
	ctx, isUndone := context.Background(), strings.HasSuffix(order, "undone")
	call.URL, call.JSON = target+"/"+order, map[string]string{"order": order, "note": `é € 🙂 \ " %s ?`}
	call.Policy = redial.PolicyOf(redial.Policy{Backoff: &redial.PolicyBackoff{Initial: "10ms", Max: "100ms"}})
	write := func(tx redial.OutboxTx) (string, error) {
		if _, err := tx.ExecContext(ctx, kinds[kind].insert, order); err != nil {
			return "", err
		}
		return outbox.Submit(ctx, tx, call, options)
	}
	if len(order)%2 == 0 {
		return onConnection(ctx, database, isUndone, write)
	}
	tx, err := database.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer tx.Rollback()
	key, err := write(tx)
	if err != nil || isUndone {
		return key, err
	}
	return key, tx.Commit()
}

func onConnection(
	ctx context.Context, database *sql.DB, isUndone bool, write func(redial.OutboxTx) (string, error),
) (key string, err error) {
	connection, err := database.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	if _, err := connection.ExecContext(ctx, "BEGIN"); err != nil {
		return "", err
	}
	end := "ROLLBACK"
	if key, err = write(connection); err == nil && !isUndone {
		end = "COMMIT"
	}
	if _, failed := connection.ExecContext(ctx, end); failed != nil {
		// Its transaction may be open still, so nobody else gets it.
		_ = connection.Raw(func(any) error { return driver.ErrBadConn })
		if err == nil {
			err = failed
		}
	}
	return key, err
}
