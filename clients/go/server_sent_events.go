package redial

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
)

// serverSentEvents reads server-sent events (WHATWG HTML §9.2) of one connection.
type serverSentEvents struct {
	lines *bufio.Reader
	// The id from which the stream can be resumed.
	lastID string
}

func newServerSentEvents(body io.Reader, lastID string) *serverSentEvents {
	return &serverSentEvents{lines: bufio.NewReaderSize(body, 64*1024), lastID: lastID}
}

// next is the next event. What is lost in the middle of one is sent again after the last id.
func (s *serverSentEvents) next() (*Event, error) {
	var data []string
	id, hasID := "", false
	for {
		// Lines end here with LF or CRLF: the service sends no single CR.
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return nil, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "id" && !strings.Contains(value, "\x00"):
			id, hasID = value, true
		case name == "data":
			data = append(data, value)
		case name == "" && strings.TrimRight(line, "\r\n") == "":
			// An id without data is a position, too: what came before it is not sent again.
			if hasID {
				s.lastID = id
			}
			if len(data) > 0 {
				event := &Event{}
				return event, json.Unmarshal([]byte(strings.Join(data, "\n")), event)
			}
			id, hasID = "", false
		}
	}
}
