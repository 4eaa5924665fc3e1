public import RedialModel

/// Which calls to list.
public struct CallQuery: Sendable {
  /// The calls that match.
  public var filter: CallFilter
  /// Only those accepted before this one.
  public var before: CallID?
  /// The maximum number of calls in a page.
  public var limit: Int
  /// How much may be examined for a page, in calls; a page may be short because of it. A call whose URL must be
  /// searched counts once more for each 256 bytes of it, so that long URLs do not make a page slow.
  public var scanLimit: Int

  /// The default of ``scanLimit``.
  public static let defaultScanLimit = 5000

  /// Creates a query.
  public init(_ filter: CallFilter, before: CallID? = nil, limit: Int = 50, scanLimit: Int = defaultScanLimit) {
    self.filter = filter
    self.before = before
    self.limit = limit
    self.scanLimit = scanLimit
  }

  /// Creates a query by state, target and kind.
  public init(
    state: CallState? = nil, target: String? = nil, kind: CallKind = .call, before: CallID? = nil, limit: Int = 50
  ) {
    self.init(CallFilter(kind: kind, state: state, target: target), before: before, limit: limit)
  }
}

/// A page of a list.
public struct CallPage<Element: Sendable>: Sendable {
  /// Its calls, newest first.
  public var calls: [Element]
  /// The call before which the next page begins; nil at the end of the list.
  public var next: CallID?

  /// Creates a page.
  public init(calls: [Element], next: CallID?) {
    self.calls = calls
    self.next = next
  }
}
