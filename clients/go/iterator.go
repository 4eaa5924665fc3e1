package redial

import "context"

// Iterator gives one entry after the other, and fetches them while you go on:
//
//	calls := client.List(nil)
//	for calls.Next(ctx) {
//		fmt.Println(calls.Value().ID)
//	}
//	if err := calls.Err(); err != nil {
//		return err
//	}
//
// It is not for several goroutines at a time.
type Iterator[T any] struct {
	fetch func(context.Context) (entries []T, isLast bool, err error)
	ready []T
	value T
	// Whether all has been fetched.
	isOver bool
	err    error
}

// Next goes on to the next entry, and says whether there is one. After an error, another Next tries again where it was.
func (i *Iterator[T]) Next(ctx context.Context) bool {
	i.err = nil
	for len(i.ready) == 0 && !i.isOver {
		if i.ready, i.isOver, i.err = i.fetch(ctx); i.err != nil {
			i.ready, i.isOver = nil, false
			return false
		}
	}
	if len(i.ready) == 0 {
		return false
	}
	i.value, i.ready = i.ready[0], i.ready[1:]
	return true
}

// Value is the entry that Next has found.
func (i *Iterator[T]) Value() T { return i.value }

// Err is the error that the last Next ended with; nil at the end of the list.
func (i *Iterator[T]) Err() error { return i.err }

// All is the rest of the entries. With an error come those that were fetched before it.
func (i *Iterator[T]) All(ctx context.Context) ([]T, error) {
	entries := []T{}
	for i.Next(ctx) {
		entries = append(entries, i.value)
	}
	return entries, i.err
}

// pages is a list that is fetched page by page.
func pages[T any](c *Client, list *request, size int) *Iterator[T] {
	if size == 0 {
		size = 250
	}
	list.ask("limit", size)
	cursor := ""
	return &Iterator[T]{fetch: func(ctx context.Context) ([]T, bool, error) {
		one := *list
		one.query = append([][2]string{}, list.query...)
		one.ask("cursor", cursor)
		page, err := answered[struct {
			Data       []T
			NextCursor string
		}](ctx, c, &one)
		if err != nil {
			return nil, false, err
		}
		cursor = page.NextCursor
		return page.Data, cursor == "", nil
	}}
}
