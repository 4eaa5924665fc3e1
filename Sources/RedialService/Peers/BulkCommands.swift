internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialJSON
internal import RedialModel

/// The command of a bulk operation about several calls, as one instance passes it on to the one that runs them.
struct BulkCommands: Sendable {
  var kind: CallCommand.Kind
  var condition: CallCommand.Condition?
  var attribution: Attribution
  var calls: [CallID]

  static let path = "/v1/calls/commands"

  /// The kinds, by their words.
  private static let kinds: [(word: String, kind: CallCommand.Kind)] = [
    ("cancel", .cancel), ("retry", .retry), ("purge", .purge),
  ]

  /// The request with it, for calls of a namespace.
  func request(in namespace: Namespace) -> ForwardableRequest {
    var writer = JSONWriter(capacity: 64 + 40 * calls.count)
    writer.beginObject()
    writer.field("kind", Self.kinds.first { $0.kind == kind }?.word)
    writer.field("condition", condition?.text)
    writer.field("by", attribution.by)
    writer.field("reason", attribution.reason)
    writer.key("calls")
    writer.beginArray()
    for call in calls { writer.string("\(call)") }
    writer.endArray()
    writer.endObject()
    return ForwardableRequest(.post, Self.path, json: writer.bytes, of: Caller(namespace: namespace))
  }
}

extension BulkCommands {
  /// Reads a request's content; nil if it cannot be read, because another version has sent it.
  init?(_ content: UnsafeBufferPointer<UInt8>) {
    let read = Result { () throws(JSONError) in
      var (kind, calls) = (CallCommand.Kind?.none, [CallID?]())
      var (condition, attribution) = (String?.none, Attribution())
      var reader = JSONReader(content)
      try reader.beginObject()
      while let name = try reader.nextKey() {
        if try reader.null() { continue }
        switch name {
        case "kind":
          let word = try reader.string()
          kind = Self.kinds.first { $0.word == word }?.kind
        case "condition": condition = try reader.string()
        case "by": attribution.by = try reader.string()
        case "reason": attribution.reason = try reader.string()
        case "calls":
          try reader.beginArray()
          while try reader.nextElement() { calls.append(CallID(try reader.string())) }
        default: _ = try reader.skipValue()
        }
      }
      try reader.finish()
      return (kind, calls, condition, attribution)
    }
    guard case .success((let kind?, let calls, let text, let attribution)) = read, !calls.contains(nil) else {
      return nil
    }
    let condition = text.flatMap { CallCommand.Condition(text: $0) }
    // Without its condition a command could do what nobody wanted.
    guard (condition == nil) == (text == nil) else { return nil }
    self.init(kind: kind, condition: condition, attribution: attribution, calls: calls.compactMap { $0 })
  }
}

/// The condition of a command as one instance sends it to another. Clients cannot give one.
extension CallCommand.Condition {
  private static let unfinishedText = "unfinished"
  private static let endedPrefix = "endedBy-"
  private static let unchangedPrefix = "endedAt-"

  /// It as a text.
  fileprivate var text: String {
    switch self {
    case .ended(let time): "\(Self.endedPrefix)\(time.microseconds)"
    case .unchanged(let time, let attempts): "\(Self.unchangedPrefix)\(time.microseconds)-\(attempts)"
    case .unfinished: Self.unfinishedText
    }
  }

  /// Reads the text; nil if it is none.
  fileprivate init?(text: String) {
    if text == Self.unfinishedText {
      self = .unfinished
    } else if text.hasPrefix(Self.endedPrefix), let time = Int64(text.dropFirst(Self.endedPrefix.count)) {
      self = .ended(by: Timestamp(microseconds: time))
    } else if text.hasPrefix(Self.unchangedPrefix) {
      let parts = text.dropFirst(Self.unchangedPrefix.count).split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count == 2, let time = Int64(parts[0]), let attempts = Int(parts[1]) else { return nil }
      self = .unchanged(endedAt: Timestamp(microseconds: time), attempts: attempts)
    } else {
      return nil
    }
  }
}
