import RedialModel

extension JSONValue {
  /// The text, to be shown to people on one line.
  var escapedText: String? { text.map { PlainText.escaped($0) } }
}

extension Terminal {
  /// Writes JSON that others wrote to standard output. It means the same as it came, and is without anything that a
  /// terminal acts on.
  static func write(json bytes: [UInt8], end: String = "\n") {
    write(PlainText.escaped(String(decoding: bytes, as: UTF8.self), keepsLines: true) + end)
  }
}
