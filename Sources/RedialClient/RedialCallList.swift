/// The calls of a service, the newest first, a page at a time; see ``RedialClient/calls(_:pageSize:)``.
public struct RedialCallList: AsyncSequence, Sendable {
  let client: RedialClient
  let filter: CallFilter
  let pageSize: Int

  private static let pageSizes = 1...250

  /// Begins at the newest call.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(list: self)
  }

  /// Iterates over the calls, and fetches the next page when one is used up.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private enum Stage {
      case before(cursor: String?)
      case within(ArraySlice<RedialCall>, next: String?)
      case ended
    }

    private let list: RedialCallList
    private var stage = Stage.before(cursor: nil)

    fileprivate init(list: RedialCallList) { self.list = list }

    /// The next call; nil after the last.
    ///
    /// - Throws: `UnsupportedByService` for a time in the filter that the service cannot read; otherwise the errors of every
    ///   operation of ``RedialClient``. After an error the same call is next.
    public mutating func next() async throws -> RedialCall? {
      while true {
        switch stage {
        case .ended: return nil
        case .within(var calls, let next):
          if let call = calls.popFirst() {
            stage = .within(calls, next: next)
            return call
          }
          stage = next.map { .before(cursor: $0) } ?? .ended
        case .before(let cursor):
          let page = try await list.page(cursor)
          // A page that leads to no new one is the last, whatever it says.
          stage = .within(page.data[...], next: page.nextCursor == cursor ? nil : page.nextCursor)
        }
      }
    }
  }

  fileprivate struct Page: Decodable, Sendable {
    var data: [RedialCall]
    var nextCursor: String?
  }

  fileprivate func page(_ cursor: String?) async throws -> Page {
    var request = ServiceRequest("GET", ["v1", "calls"])
    let limit = Swift.min(Swift.max(pageSize, Self.pageSizes.lowerBound), Self.pageSizes.upperBound)
    request.query = [("limit", "\(limit)")] + (try filter.query())
    if let cursor { request.query.append(("cursor", cursor)) }
    return try await client.exchange(request).decoded(Page.self)
  }
}
