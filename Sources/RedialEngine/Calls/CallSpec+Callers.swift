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
