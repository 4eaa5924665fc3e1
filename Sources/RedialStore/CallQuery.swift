public import RedialModel

/// Which calls to list.
public struct CallQuery: Sendable {
  /// Those that are meant.
  public var filter: CallFilter
  /// Only those accepted before this one.
  public var before: CallID?
  /// The most that are answered.
  public var limit: Int
  /// How much may be examined for a page, in calls; a page may be short for that. A call whose URL has to be searched
  /// counts once more for each 256 bytes of it, so that long URLs do not make a page slow.
  public var scanLimit: Int

  /// The most calls that are looked at for one page unless somebody says otherwise.
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
  /// What is on it, newest first.
  public var calls: [Element]
  /// Before which call the list goes on; nil at its end.
  public var next: CallID?

  /// Creates a page.
  public init(calls: [Element], next: CallID?) {
    self.calls = calls
    self.next = next
  }
}
