internal import RedialCore
internal import RedialModel
internal import RedialJSON
internal import RedialText

/// The members of an object that the store keeps for the service.
struct DocumentFields {
  private enum Value {
    case text(String)
    case number(Int64)
    case texts([String])
    case objects([DocumentFields])
  }

  private var values: [String: Value] = [:]

  init(_ bytes: [UInt8]) throws(JSONError) {
    self = try bytes.withUnsafeBufferPointer { buffer throws(JSONError) in
      var reader = JSONReader(buffer)
      let fields = try DocumentFields(&reader)
      try reader.finish()
      return fields
    }
  }

  private init(_ reader: inout JSONReader) throws(JSONError) {
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch try reader.peek() {
      case .string: values[key] = .text(try reader.string())
      case .number: values[key] = .number(try reader.integer())
      case .array: values[key] = try Self.array(&reader)
      default: _ = try reader.skipValue()
      }
    }
  }

  private static func array(_ reader: inout JSONReader) throws(JSONError) -> Value {
    var texts: [String] = []
    var objects: [DocumentFields] = []
    try reader.beginArray()
    while try reader.nextElement() {
      if try reader.peek() == .object {
        objects.append(try DocumentFields(&reader))
      } else {
        texts.append(try reader.string())
      }
    }
    return objects.isEmpty ? .texts(texts) : .objects(objects)
  }

  func text(_ key: String) -> String? { if case .text(let text) = values[key] { text } else { nil } }
  func integer(_ key: String) -> Int? { if case .number(let number) = values[key] { Int(number) } else { nil } }
  func texts(_ key: String) -> [String] { if case .texts(let texts) = values[key] { texts } else { [] } }
  func objects(_ key: String) -> [DocumentFields] { if case .objects(let all) = values[key] { all } else { [] } }
  func time(_ key: String) -> Timestamp? { text(key).flatMap { TimestampText.parse($0) } }
}
