internal import RedialJSON

extension JSONReader {
  /// Whether bytes are one JSON value.
  static func isValue(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var reader = JSONReader(bytes)
    do throws(JSONError) {
      _ = try reader.skipValue()
      try reader.finish()
      return true
    } catch {
      return false
    }
  }
}
