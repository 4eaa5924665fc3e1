/// The conditions under which a client wants a request performed, RFC 9110 section 13.
///
/// The server itself applies them to answers with status 200 to GET and HEAD that have an `ETag` or a `Last-Modified`.
/// For a method that changes something, only the handler knows the current state: it must call
/// ``outcome(entityTag:lastModified:isSafe:)`` before it performs the request.
public struct HTTPPreconditions: Sendable, Equatable {
  /// The result of the conditions.
  public enum Outcome: Sendable, Equatable {
    /// Perform the request.
    case proceed
    /// 304: the client already has the content.
    case notModified
    /// 412: the request must not be performed.
    case failed
  }

  /// The values of the fields; several lines of a list are joined.
  var ifMatch: String?
  var ifNoneMatch: String?
  var ifModifiedSince: String?
  var ifUnmodifiedSince: String?

  /// Whether there are no conditions.
  public var isEmpty: Bool {
    ifMatch == nil && ifNoneMatch == nil && ifModifiedSince == nil && ifUnmodifiedSince == nil
  }

  /// Evaluates the conditions in the order of RFC 9110 section 13.2.2.
  ///
  /// - Parameters:
  ///   - entityTag: The current `ETag` with its quotes, such as `"v1"` or `W/"v1"`; nil if there is none.
  ///   - lastModified: The current `Last-Modified`, an HTTP-date; nil if there is none. An invalid date is ignored.
  ///   - isSafe: Whether the method is GET or HEAD.
  ///   - exists: Whether there is a current representation.
  public func outcome(
    entityTag: String?, lastModified: String?, isSafe: Bool, exists: Bool = true
  ) -> Outcome {
    let modified = lastModified.flatMap { HTTPDate.seconds($0) }
    if let ifMatch {
      // Strong comparison: a weak tag matches nothing (section 13.1.1).
      guard Self.matches(ifMatch, entityTag, exists, isStrong: true) else { return .failed }
    } else if let since = ifUnmodifiedSince.flatMap({ HTTPDate.seconds($0) }), let modified {
      guard modified <= since else { return .failed }
    }
    if let ifNoneMatch {
      if Self.matches(ifNoneMatch, entityTag, exists, isStrong: false) { return isSafe ? .notModified : .failed }
    } else if isSafe, let since = ifModifiedSince.flatMap({ HTTPDate.seconds($0) }), let modified {
      if modified <= since { return .notModified }
    }
    return .proceed
  }

  /// Whether there is an `If-Match` that the current representation does not match.
  ///
  /// - Parameter entityTag: The current `ETag` with its quotes; nil if there is no representation.
  public func failsIfMatch(entityTag: String?) -> Bool {
    ifMatch.map { !Self.matches($0, entityTag, entityTag != nil, isStrong: true) } ?? false
  }

  /// Whether a list of entity tags, or `*`, contains the current one (RFC 9110 section 8.8.3.2).
  private static func matches(_ list: String, _ current: String?, _ exists: Bool, isStrong: Bool) -> Bool {
    if list == "*" { return exists }
    guard exists, let current, var wanted = EntityTag(current) else { return false }
    if isStrong, wanted.isWeak { return false }
    if !isStrong { wanted.isWeak = false }
    var rest = Substring(list).utf8
    while let next = EntityTag.next(in: &rest) {
      var tag = next
      if !isStrong { tag.isWeak = false }
      if tag == wanted { return true }
    }
    return false
  }
}

/// `entity-tag = [ weak ] opaque-tag`, RFC 9110 section 8.8.3.
private struct EntityTag: Equatable {
  var isWeak: Bool
  var opaque: Substring.UTF8View.SubSequence

  static func == (one: EntityTag, other: EntityTag) -> Bool {
    one.isWeak == other.isWeak && one.opaque.elementsEqual(other.opaque)
  }

  init?(_ text: String) {
    var rest = Substring(text).utf8
    guard let tag = Self.next(in: &rest), rest.isEmpty else { return nil }
    self = tag
  }

  private init(isWeak: Bool, opaque: Substring.UTF8View.SubSequence) {
    self.isWeak = isWeak
    self.opaque = opaque
  }

  /// The next entity tag of a comma-separated list; nil at its end, or if the text is not such a list. A tag may
  /// contain a comma, so the quotes decide.
  static func next(in rest: inout Substring.UTF8View) -> EntityTag? {
    rest = rest.drop { ASCII.isBlank($0) || $0 == ASCII.comma }
    var isWeak = false
    if rest.starts(with: "W/".utf8) {
      isWeak = true
      rest = rest.dropFirst(2)
    }
    guard rest.first == 0x22 else { return nil }
    rest = rest.dropFirst()
    guard let quote = rest.firstIndex(of: 0x22) else { return nil }
    let opaque = rest[..<quote]
    guard opaque.allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }) else { return nil }
    rest = rest[rest.index(after: quote)...]
    let after = rest.drop { ASCII.isBlank($0) }
    guard after.isEmpty || after.first == ASCII.comma else { return nil }
    rest = after
    return EntityTag(isWeak: isWeak, opaque: opaque)
  }
}

extension HTTPRequest {
  /// The conditions under which the client wants the request performed.
  public var preconditions: HTTPPreconditions {
    HTTPPreconditions(
      ifMatch: list("if-match"), ifNoneMatch: list("if-none-match"), ifModifiedSince: only("if-modified-since"),
      ifUnmodifiedSince: only("if-unmodified-since"))
  }

  /// The lines of a list field as one list (RFC 9110 section 5.3); nil if there is none.
  ///
  /// - Parameter lowercaseName: The field's name in lower case; it matches any case.
  public func list(_ lowercaseName: StaticString) -> String? {
    guard headerCount(lowercaseName) > 1 else { return header(lowercaseName) }
    var lines: [String] = []
    forEachHeader { name, value in
      guard let start = name.baseAddress else { return }
      if ASCII.equal(start.assumingMemoryBound(to: UInt8.self), name.count, lowercaseName) {
        lines.append(String(decoding: value, as: UTF8.self))
      }
    }
    return lines.joined(separator: ", ")
  }

  /// A field that is not a list: if it occurs twice, neither value is reliable (RFC 9110 section 13.1.3).
  private func only(_ lowercaseName: StaticString) -> String? {
    headerCount(lowercaseName) == 1 ? header(lowercaseName) : nil
  }
}

extension HTTPResponse {
  /// The answer to GET or HEAD with conditions: the given one, 304 or 412.
  ///
  /// - Parameters:
  ///   - conditions: The client's.
  ///   - varies: Whether the full answer would say to caches that its coding was negotiated.
  ///   - mayBeCoded: Whether the answer might have been compressed, which makes its entity tag weak.
  ///   - errorResponse: Renders the 412.
  func applying(
    _ conditions: HTTPPreconditions, varies: Bool, mayBeCoded: Bool, errorResponse: (Int, String) -> HTTPResponse
  ) -> HTTPResponse {
    guard status == 200 else { return self }
    let tag = headers.first { $0.isNamed("etag") }?.value
    let modified = headers.first { $0.isNamed("last-modified") }?.value
    var response = self
    switch conditions.outcome(entityTag: tag, lastModified: modified, isSafe: true) {
    case .proceed: return self
    case .failed:
      response = errorResponse(412, "The resource is not in the state that the request requires.")
    case .notModified:
      response.status = 304
      response.body = []
      // RFC 9110 section 15.4.5: fields that describe the omitted content are left out, fields that guide caches stay.
      response.headers.removeAll { header in
        header.name.utf8.count > 8 && header.name.lowercased().hasPrefix("content-")
          && !header.isNamed("content-location") && !header.isNamed("content-security-policy")
      }
      if varies { response.headers.append(HTTPHeader("Vary", "Accept-Encoding")) }
      // The tag that the 200 would have had, by which a cache finds its copy (section 15.4.5). A weak tag is safe even
      // if that answer would have been plain.
      if mayBeCoded {
        for index in response.headers.indices
        where response.headers[index].isNamed("etag") && response.headers[index].value.hasPrefix("\"") {
          response.headers[index].value = "W/" + response.headers[index].value
        }
      }
    }
    response.closesConnection = closesConnection
    return response
  }
}
