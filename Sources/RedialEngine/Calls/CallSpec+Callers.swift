internal import RedialModel

extension CallSpec {
  /// Its callers: what it has in common with other calls, which is its path, its credentials, and each of its labels.
  /// Nobody says which of these is the one in trouble.
  ///
  /// A part of the path with a digit in it counts as any: most of these are ids.
  var callers: SlotHolders {
    var callers = SlotHolders(first: pathHash)
    for field in headers where field.isCredential {
      var hash = FNV1a(field.value)
      hash.add(1)
      callers.others.append(hash.value)
    }
    for label in labels {
      var hash = FNV1a(label.name)
      hash.add(2)
      hash.add(label.value)
      callers.others.append(hash.value)
    }
    return callers
  }

  /// The path without the last part, if that is an id.
  var pathHash: UInt64 {
    // Up to the last slash, and with the part behind it.
    var (parent, path) = (FNV1a(), FNV1a())
    var slashes = 0
    var isID = false
    let bytes = url.utf8Span.span
    for index in bytes.indices {
      let byte = bytes[index]
      if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
      if byte == UInt8(ascii: "/") {
        slashes += 1
        if !isID { parent = path }
        parent.add(byte)
        path = parent
        isID = false
      } else if slashes > 2 {
        path.add(byte)
        isID = isID || (0x30...0x39).contains(byte)
      }
    }
    return isID ? parent.value : path.value
  }

  /// The scheme, host and port of its URL.
  var originHash: UInt64 {
    var hash = FNV1a()
    var slashes = 0
    let bytes = url.utf8Span.span
    for index in bytes.indices {
      let byte = bytes[index]
      if byte == UInt8(ascii: "/") { slashes += 1 }
      if slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
      hash.add(byte)
    }
    return hash.value
  }
}

extension HeaderField {
  /// Whether it tells callers apart.
  var isCredential: Bool {
    switch name.utf8.count {
    case 6: isNamed("cookie")
    case 7: isNamed("api-key")
    case 9: isNamed("x-api-key")
    case 13: isNamed("authorization")
    default: false
    }
  }
}
