internal import RedialJSON
package import RedialModel

/// The call that a webhook reports.
package enum WebhookSubject {
  /// The call in a webhook's body, or nil.
  package static func id(in body: [UInt8]) -> CallID? {
    body.withUnsafeBufferPointer { bytes -> CallID? in
      var reader = JSONReader(bytes)
      return try? id(&reader)
    }
  }

  private static func id(_ reader: inout JSONReader) throws(JSONError) -> CallID? {
    try reader.beginObject()
    while let key = try reader.nextKey() {
      guard key == "data" else {
        _ = try reader.skipValue()
        continue
      }
      try reader.beginObject()
      while let member = try reader.nextKey() {
        if member == "id" { return CallID(try reader.string()) }
        _ = try reader.skipValue()
      }
    }
    return nil
  }
}

extension CallRecord {
  /// The call whose end it reports, if it is a webhook that has not ended.
  package var unfinishedSubject: CallID? {
    kind == .webhook && !progress.state.isFinal ? WebhookSubject.id(in: body) : nil
  }
}
