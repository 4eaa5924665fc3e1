internal import RedialModel

extension CallSpec {
  /// Its callers: what it has in common with other calls, which is its path, its credentials, and each of its labels.
  /// Nobody says which of these is the one in trouble.
  ///
  /// A part of the path with a digit in it counts as any: most of these are ids.
  var callers: SlotHolders {
    var callers = SlotHolders(first: pathHash)
    for field in headers where field.isCredential { callers.others.append(field.caller) }
    if let credential { callers.others.append(Self.caller(ofCredential: credential)) }
    for label in labels { callers.others.append(label.caller) }
    return callers
  }

  /// What one of its callers is, for people; nil if it is none of them.
  func mark(of caller: UInt64) -> FailingPart.Mark? {
    if caller == pathHash { return FailingPart.Mark(pathOf: url) }
    if let field = headers.first(where: { $0.isCredential && $0.caller == caller }) { return .credential(field.name) }
    if let credential, Self.caller(ofCredential: credential) == caller { return .credential(credential) }
    return labels.first { $0.caller == caller }.map { .label($0) }
  }

  /// A stored one, by its name.
  private static func caller(ofCredential name: String) -> UInt64 {
    var hash = FNV1a(name)
    hash.add(3)
    return hash.value
  }
}

extension CallSpec.Label {
  fileprivate var caller: UInt64 {
    var hash = FNV1a(name)
    hash.add(2)
    hash.add(value)
    return hash.value
  }
}

extension HeaderField {
  fileprivate var caller: UInt64 {
    var hash = FNV1a(value)
    hash.add(1)
    return hash.value
  }

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
