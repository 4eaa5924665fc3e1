public import RedialJSON

/// The labels. A view of the call always has them.
struct LabelsMember: MemberForm {
  /// The maximum number of labels.
  static let most = 32
  /// The longest name and the longest value, in bytes.
  static let longest = 255

  func read(
    _ name: StaticString, into value: inout [CallSpec.Label], from reader: inout DescriptorReader
  ) throws(JSONError) {
    guard try reader.expect(.object, "/\(name)", "must be an object of strings") else { return }
    try reader.json.beginObject()
    var tooMany = false
    while let label = try reader.json.nextKey() {
      func pointer() -> String { "/\(name)/\(JSONPointer.escaped(label))" }
      if value.count >= Self.most {
        tooMany = true
        _ = try reader.json.skipValue()
        continue
      }
      guard let text = try reader.string(pointer()) else { continue }
      if label.isEmpty || label.utf8.count > Self.longest || text.utf8.count > Self.longest {
        reader.fault(pointer(), "must have a name of 1 to \(Self.longest) bytes and a value of at most as many")
      } else if !reader.limits.isAccepted, PlainText.hasControls(label) {
        reader.fault(pointer(), "must have no control characters in its name")
      } else if !reader.limits.isAccepted, !NormalForm.isComposed(label) {
        reader.fault(pointer(), "must have a name in the normalization form NFC of Unicode")
      } else if !reader.limits.isAccepted, label.contains("=") {
        reader.fault(pointer(), "must have no = in its name: a label is written as NAME=VALUE")
      } else if value.contains(where: { $0.name == label }) {
        reader.fault(pointer(), "is given twice")
      }
      value.append(CallSpec.Label(name: label, value: text))
    }
    if tooMany { reader.fault("/\(name)", "has more than \(Self.most) members") }
  }

  func write(
    _ name: StaticString, _ value: [CallSpec.Label], hiding redaction: Redaction?, to writer: inout JSONWriter
  ) {
    if !value.isEmpty { value.write(name, to: &writer) }
  }

  func show(
    _ name: StaticString, _ value: [CallSpec.Label], hiding redaction: Redaction, to writer: inout JSONWriter
  ) {
    value.write(name, to: &writer)
  }
}

extension [CallSpec.Label] {
  /// Writes a member with the labels into an open object.
  public func write(_ name: StaticString = "labels", to writer: inout JSONWriter) {
    writer.key(name)
    writer.beginObject()
    for label in self {
      writer.key(label.name)
      writer.string(label.value)
    }
    writer.endObject()
  }
}
