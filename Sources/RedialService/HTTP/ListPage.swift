internal import HTTPServer
internal import RedialJSON
internal import RedialModel

/// Which part of a list a client wants. All lists have the same parameters, and the same form.
struct ListPage: Sendable {
  let limit: Int
  /// The key of the last element of the page before; nil for the first page.
  let cursor: String?

  /// Reads a query without other parameters.
  ///
  /// - Throws: A problem that names the wrong parameter.
  init(parameters query: String?, _ size: PageSize = .documents) throws(Problem) {
    var parameters = try QueryParameters(query)
    try self.init(from: &parameters, size)
    try parameters.finish()
  }

  /// Removes the parameters of a page.
  init(from parameters: inout QueryParameters, _ size: PageSize) throws(Problem) {
    limit = try parameters.takeLimit(size)
    cursor = parameters.take("cursor")
  }

  /// The elements of the page, and the key of its last one if more follow.
  ///
  /// An element that is gone meanwhile does not matter: the list goes on behind its key.
  ///
  /// - Throws: A problem if the cursor is none of such a list.
  func part<Element>(
    of elements: [Element], _ order: ListOrder, by key: (Element) -> String
  ) throws(Problem) -> (elements: ArraySlice<Element>, next: String?) {
    var rest = elements[...]
    if let cursor {
      guard order.isKey(cursor) else {
        throw QueryParameters.problem("cursor", "must be the nextCursor of an earlier page")
      }
      rest = rest.drop { !order.precedes(cursor, key($0)) }
    }
    let shown = rest.prefix(limit)
    return (shown, shown.count < rest.count ? shown.last.map(key) : nil)
  }
}

extension Answer {
  /// 200: a page of a list that is in memory.
  ///
  /// - Parameters:
  ///   - order: That of the elements.
  ///   - unreadable: What is missing in it, because it cannot be read in the store.
  ///   - key: Tells them apart, and has their order.
  static func list<Element>(
    _ elements: [Element], _ page: ListPage, _ order: ListOrder, unreadable: [String] = [], by key: (Element) -> String,
    _ write: (Element, inout JSONWriter) -> Void
  ) throws(Problem) -> HTTPResponse {
    let (shown, next) = try page.part(of: elements, order, by: key)
    return list(shown, next: next, write) { Self.write(unreadable: unreadable, to: &$0) }
  }

  /// Writes what is missing in a list, if something is.
  static func write(unreadable: [String], to writer: inout JSONWriter) {
    guard !unreadable.isEmpty else { return }
    writer.key("unreadable")
    writer.beginArray()
    for id in unreadable { writer.string(id) }
    writer.endArray()
  }

  /// 200: a page of a list.
  ///
  /// - Parameters:
  ///   - next: The cursor of the next page; nil if there is none.
  ///   - more: Writes further members.
  static func list<Elements: Sequence>(
    _ shown: Elements, next: String?, _ write: (Elements.Element, inout JSONWriter) -> Void,
    more: (inout JSONWriter) -> Void = { _ in }
  ) -> HTTPResponse {
    json(capacity: 4096) { writer in
      writer.beginObject()
      writer.key("data")
      writer.beginArray()
      for element in shown { write(element, &writer) }
      writer.endArray()
      writer.field("nextCursor", next)
      more(&writer)
      writer.endObject()
    }
  }
}
