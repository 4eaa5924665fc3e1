module outbox-application

go 1.19

require (
	github.com/go-sql-driver/mysql v0.0.0
	github.com/lib/pq v0.0.0
	github.com/mattn/go-sqlite3 v0.0.0
	redial-client v0.0.0
)

replace redial-client => ../../../../clients/go

// Where Scripts/packages lays them.
replace (
	github.com/go-sql-driver/mysql => /usr/local/share/gocode/src/github.com/go-sql-driver/mysql
	github.com/lib/pq => /usr/local/share/gocode/src/github.com/lib/pq
	github.com/mattn/go-sqlite3 => /usr/local/share/gocode/src/github.com/mattn/go-sqlite3
)
