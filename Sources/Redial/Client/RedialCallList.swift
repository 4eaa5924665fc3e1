/// The calls of a service, the newest first, a page at a time; see ``RedialClient/calls(state:target:pageSize:)``.
public struct RedialCallList: AsyncSequence, Sendable {
  let client: RedialClient
  let state: RedialCall.State?
  let target: String?
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
    /// - Throws: The errors of every operation of ``RedialClient``. After an error the same call is next.
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
    request.query = [("limit", "\(limit)")]
    if let state { request.query.append(("state", state.rawValue)) }
    if let target { request.query.append(("target", target)) }
    if let cursor { request.query.append(("cursor", cursor)) }
    return try await client.exchange(request).decoded(Page.self)
  }
}
