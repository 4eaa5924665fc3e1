import RedialModel

extension JSONValue {
  /// The text as one line for people.
  var escapedText: String? { text.map { PlainText.escaped($0) } }
}

extension Terminal {
  /// Writes JSON of others to standard output. Its meaning is unchanged, but it contains nothing that a terminal acts
  /// on.
  static func write(json bytes: [UInt8], end: String = "\n") {
    write(PlainText.escaped(String(decoding: bytes, as: UTF8.self), keepsLines: true) + end)
  }
}
