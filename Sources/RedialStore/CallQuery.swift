package import RedialModel

/// Which calls to list.
package struct CallQuery: Sendable {
  /// The calls that match.
  package var filter: CallFilter
  /// Only those accepted before this one.
  package var before: CallID?
  /// The maximum number of calls in a page.
  package var limit: Int
  /// How targets stand. A filter that asks for waits needs it.
  package var standings: KnownStandings?
  /// How much may be examined for a page, in calls; a page may be short because of it. A call whose URL must be
  /// searched counts once more for each 256 bytes of it, so that long URLs do not make a page slow. Of calls that are
  /// judged by their rows alone, ``rowsPerCall`` count as one.
  package var scanLimit: Int

  /// The default of ``scanLimit``: a million rows.
  package static let defaultScanLimit = 5000
  /// How many rows may be read at the cost of one call that is looked up (measured: 0.3 µs to 60 µs).
  package static let rowsPerCall = 200

  /// Creates a query.
  package init(
    _ filter: CallFilter, before: CallID? = nil, limit: Int = PageSize.calls.usual, scanLimit: Int = defaultScanLimit,
    standings: KnownStandings? = nil
  ) {
    self.filter = filter
    self.before = before
    self.limit = limit
    self.scanLimit = scanLimit
    self.standings = standings
  }

  /// Creates a query by state, target and kind.
  package init(
    state: CallState? = nil, target: String? = nil, kind: CallKind = .call, before: CallID? = nil,
    limit: Int = PageSize.calls.usual
  ) {
    self.init(CallFilter(kind: kind, state: state, target: target), before: before, limit: limit)
  }
}

/// A page of a list.
package struct CallPage<Element: Sendable>: Sendable {
  /// Its calls, newest first.
  package var calls: [Element]
  /// The call before which the next page begins; nil at the end of the list.
  package var next: CallID?

  /// Creates a page.
  package init(calls: [Element], next: CallID?) {
    self.calls = calls
    self.next = next
  }
}
