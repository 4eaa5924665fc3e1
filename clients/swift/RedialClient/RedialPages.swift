/// A list of the service, a page at a time; see ``RedialClient/RedialClient/calls(_:pageSize:)``.
public struct RedialPages<Element: Decodable & Sendable>: AsyncSequence, Sendable {
  let client: RedialClient
  let pageSize: Int
  /// The request for the first page, without its size.
  let request: @Sendable () throws -> ServiceRequest

  private static var pageSizes: ClosedRange<Int> { 1...250 }

  /// Begins at the first page.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(list: self)
  }

  /// Iterates over the entries, and fetches the next page when one is used up.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private enum Stage {
      case before(cursor: String?)
      case within(ArraySlice<Element>, next: String?)
      case ended
    }

    private let list: RedialPages<Element>
    private var stage = Stage.before(cursor: nil)

    fileprivate init(list: RedialPages<Element>) { self.list = list }

    /// The next entry; nil after the last.
    ///
    /// - Throws: `UnsupportedByService` for a time in a condition that the service cannot read; otherwise the errors of
    ///   every operation of ``RedialClient``. After an error the same entry is next.
    public mutating func next() async throws -> Element? {
      while true {
        switch stage {
        case .ended: return nil
        case .within(var entries, let next):
          if let entry = entries.popFirst() {
            stage = .within(entries, next: next)
            return entry
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
    var data: [Element]
    var nextCursor: String?
  }

  fileprivate func page(_ cursor: String?) async throws -> Page {
    var request = try request()
    let limit = Swift.min(Swift.max(pageSize, Self.pageSizes.lowerBound), Self.pageSizes.upperBound)
    request.query.insert(("limit", "\(limit)"), at: 0)
    request.add([("cursor", cursor)])
    return try await client.exchange(request).decoded(Page.self)
  }
}
