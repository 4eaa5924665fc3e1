internal import RedialJSON

/// Header fields as people see them: an object of arrays, in the order of their first lines.
///
/// The names of fields that are not in UTF-8 stand beside it, so that their bytes are known: all values of such a field are
/// shown in ISO-8859-1.
struct ShownFields {
  private var names: [String] = []
  private var values: [String: [(text: String, isLatin1: Bool)]] = [:]

  mutating func add(_ name: String, _ value: (text: String, isLatin1: Bool)) {
    if values[name] == nil { names.append(name) }
    values[name, default: []].append(value)
  }

  /// Writes the members `headers`, and `latin1` if there is such a field.
  func write(to writer: inout JSONWriter) {
    var latin1: [String] = []
    writer.key("headers")
    writer.beginObject()
    for name in names {
      let values = values[name] ?? []
      let isLatin1 = values.contains { $0.isLatin1 }
      if isLatin1 { latin1.append(name) }
      writer.key(name)
      writer.beginArray()
      for value in values {
        writer.string(isLatin1 && !value.isLatin1 ? ByteText.latin1(Array(value.text.utf8)) : value.text)
      }
      writer.endArray()
    }
    writer.endObject()
    guard !latin1.isEmpty else { return }
    writer.key("latin1")
    writer.beginArray()
    for name in latin1 { writer.string(name) }
    writer.endArray()
  }
}
