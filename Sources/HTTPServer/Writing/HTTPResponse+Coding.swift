extension HTTPResponse {
  /// Whether the content may be sent in another coding: it is complete and has no coding, no digest of its bytes is
  /// sent with it (RFC 9530 section 2), and `no-transform` does not forbid it (RFC 9111 section 5.2.2.6).
  var permitsCoding: Bool {
    guard !body.isEmpty, status != 204, status != 205, status != 206, status != 304 else { return false }
    for header in headers {
      if header.isNamed("content-encoding") || header.isNamed("content-range") || header.isNamed("content-digest")
        || header.isNamed("repr-digest")
      {
        return false
      }
      if header.isNamed("cache-control"), header.lists("no-transform") { return false }
    }
    return true
  }

  /// Whether content of this type usually becomes smaller: text, and formats that are text.
  var isCompressible: Bool {
    guard let type = headers.first(where: { $0.isNamed("content-type") }) else { return false }
    return type.value.utf8.withContiguousStorageIfAvailable { value in
      guard let bytes = value.baseAddress else { return false }
      var count = value.firstIndex(of: ASCII.semicolon) ?? value.count
      while count > 0, ASCII.isBlank(bytes[count - 1]) { count -= 1 }
      if count > 5, ASCII.equal(bytes, 5, "text/") { return true }
      if count > 12, ASCII.equal(bytes, 12, "application/") {
        let (subtype, length) = (bytes + 12, count - 12)
        if ASCII.equal(subtype, length, "json") || ASCII.equal(subtype, length, "yaml")
          || ASCII.equal(subtype, length, "javascript") || ASCII.equal(subtype, length, "xml")
        {
          return true
        }
      }
      guard count > 5 else { return false }
      // The structured suffixes of RFC 6839 and RFC 9512, including `image/svg+xml`.
      return ASCII.equal(bytes + count - 5, 5, "+json") || ASCII.equal(bytes + count - 5, 5, "+yaml")
        || ASCII.equal(bytes + count - 4, 4, "+xml")
    } ?? false
  }

  /// Whether the handler has already set that the answer depends on `Accept-Encoding`.
  var variesByCoding: Bool {
    headers.contains { $0.isNamed("vary") && ($0.lists("accept-encoding") || $0.lists("*")) }
  }
}

extension HTTPHeader {
  /// Whether the names are equal, ignoring case.
  func isNamed(_ lowercase: StaticString) -> Bool {
    guard name.utf8.count == lowercase.utf8CodeUnitCount else { return false }
    return name.utf8.withContiguousStorageIfAvailable { bytes in
      bytes.baseAddress.map { ASCII.equal($0, bytes.count, lowercase) } ?? false
    } ?? false
  }

  /// Whether the value is a list with that element, ignoring case.
  fileprivate func lists(_ lowercase: StaticString) -> Bool {
    value.utf8.withContiguousStorageIfAvailable { value in
      guard let bytes = value.baseAddress else { return false }
      var index = 0
      while let element = Framing.element(bytes, value.count, &index) {
        if ASCII.equal(bytes + element.lowerBound, element.count, lowercase) { return true }
      }
      return false
    } ?? false
  }
}
