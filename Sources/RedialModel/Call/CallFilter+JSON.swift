internal import RedialCore
public import RedialJSON
internal import RedialText

extension CallFilter {
  /// The members of such an object.
  static let members = names + ["labels"]

  /// Reads an object of conditions, each named as in a query, with `labels` as an object.
  ///
  /// - Parameter now: From when durations count.
  mutating func read(
    _ pointer: String, from reader: inout DescriptorReader, at now: Timestamp
  ) throws(JSONError) {
    guard try reader.expect(.object, pointer, "must be an object such as {\"state\": \"failed\"}") else { return }
    try reader.json.beginObject()
    // A condition that is null by mistake would select more than was meant.
    var members = Members(Self.members, withNull: Set(Self.members))
    while let key = try reader.nextMember(&members, of: "a filter", at: pointer) {
      if key == "labels" {
        try readLabels("\(pointer)/labels", &reader, at: now)
      } else if key == "state", try reader.json.peek() == .array {
        try readStates("\(pointer)/state", &reader, at: now)
      } else if ["status", "attempts"].contains(key), try reader.json.peek() == .number {
        set(key, to: try reader.json.integer().description, at: "\(pointer)/\(key)", &reader, now)
      } else if try reader.expect(.string, "\(pointer)/\(key)", Self.form(of: key)) {
        let text = try reader.json.string()
        set(key, to: text, at: "\(pointer)/\(key)", &reader, now)
      }
    }
  }

  /// What a condition must be, as a clause.
  private static func form(of name: String) -> String {
    switch name {
    case "state": "must be a string, or an array of strings"
    case "status", "attempts": "must be a number, or a string"
    default: "must be a string"
    }
  }

  private mutating func readStates(
    _ pointer: String, _ reader: inout DescriptorReader, at now: Timestamp
  ) throws(JSONError) {
    try reader.json.beginArray()
    var position = 0
    while try reader.json.nextElement() {
      let place = "\(pointer)/\(position)"
      position += 1
      if let text = try reader.string(place) { set("state", to: text, at: place, &reader, now) }
    }
    if position == 0 { reader.fault(pointer, "names no state") }
  }

  private mutating func readLabels(
    _ pointer: String, _ reader: inout DescriptorReader, at now: Timestamp
  ) throws(JSONError) {
    guard try reader.expect(.object, pointer, "must be an object of strings") else { return }
    try reader.json.beginObject()
    while let name = try reader.json.nextKey() {
      let place = "\(pointer)/\(JSONPointer.escaped(name))"
      guard let value = try reader.string(place) else { continue }
      if let fault = add(CallSpec.Label(name: name, value: value)) { reader.fault(place, fault) }
    }
  }

  /// Sets the condition with this name, or reports why it cannot be set.
  private mutating func set(
    _ name: String, to text: String, at pointer: String, _ reader: inout DescriptorReader, _ now: Timestamp
  ) {
    if let fault = set(name, to: text, at: now) { reader.fault(pointer, fault) }
  }

  /// Writes the conditions that are set, as one object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if kind != .call { writer.field("kind", kind.name) }
    writeStates(to: &writer)
    if let target { writer.field("target", target) }
    if !labels.isEmpty { labels.write(to: &writer) }
    if let createdAfter { writer.field("createdAfter", createdAfter) }
    if let createdBefore { writer.field("createdBefore", createdBefore) }
    if let attempts { writer.field("attempts", attempts) }
    if let waitingOn {
      writer.key("waitingOn")
      writer.string(waitingOn.name)
    }
    if let nextAttemptBefore { writer.field("nextAttemptBefore", nextAttemptBefore) }
    if let statuses { writer.field("status", PolicyVocabulary.text(statuses)) }
    if let outcome {
      writer.key("outcome")
      writer.string(outcome.name)
    }
    if let failure {
      writer.key("failureReason")
      writer.string(failure.name)
    }
    if let issue { writer.field("issue", issue.description) }
    if let urlPart { writer.field("url", urlPart) }
    if let idempotencyKey { writer.field("idempotencyKey", idempotencyKey) }
    writer.endObject()
  }

  /// One state as a string, several as an array.
  private func writeStates(to writer: inout JSONWriter) {
    guard let first = states.first else { return }
    if states.count == 1 { return writer.field("state", first.rawValue) }
    writer.key("state")
    writer.beginArray()
    for state in CallState.allCases where states.contains(state) { writer.string(state.rawValue) }
    writer.endArray()
  }
}
