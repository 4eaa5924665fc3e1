// Runs the example of a receiver, which stands beside it in the package: receive WEBHOOK. Then again with a body that was changed.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	var parts [3]json.RawMessage
	var secret, body string
	fields := map[string]string{}
	if err := json.Unmarshal([]byte(os.Args[1]), &parts); err != nil {
		panic(err)
	}
	for number, into := range []any{&secret, &body, &fields} {
		if err := json.Unmarshal(parts[number], into); err != nil {
			panic(err)
		}
	}
	for _, content := range []string{body, body + " "} {
		request, err := http.NewRequest("POST", "http://127.0.0.1/hooks", strings.NewReader(content))
		if err != nil {
			panic(err)
		}
		for name, value := range fields {
			request.Header.Set(name, value)
		}
		fmt.Println(receive(secret, request))
	}
}
