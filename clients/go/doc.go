// Package redial is the Go client of Redial, retry as a service: submit an HTTP call, and Redial retries it until it succeeds.
//
//	client, err := redial.New(redial.Options{URL: "http://127.0.0.1:8080"})
//	call, err := client.Submit(ctx, redial.CallDescriptor{URL: "https://api.example.com/charges"}, nil)
//	ended, err := client.Wait(ctx, call.ID, nil)
//
// [Transport] submits the requests of an [http.Client] in place of sending them. [Outbox] submits within a transaction of your own
// database.
//
// The types of calls and answers have the members of the contract, api/openapi.yaml. Null in an answer is nil, or the empty text.
// What is left out of a request has its zero value: nil, or the empty text. [Ptr] makes a pointer to a number or a flag.
// A member for which null and nothing mean two things is a [Nullable].
//
// Each code of a problem is a type in the package problems, for [errors.As].
package redial

// Version is the version of this client, and of the service that it was made for.
const Version = "0.1.0"
