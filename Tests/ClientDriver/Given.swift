import Foundation
import RedialClient

/// JSON that a scenario has given, as the types of the client.
struct Given {
  var json: RedialJSON

  init(_ json: RedialJSON) { self.json = json }

  init(decoding text: String) throws {
    json = try JSONDecoder().decode(RedialJSON.self, from: Data(text.utf8))
  }

  subscript(_ name: String) -> Given? {
    guard case .object(let members) = json else { return nil }
    return members[name].map(Given.init)
  }

  subscript(_ index: Int) -> Given {
    guard case .array(let entries) = json, entries.indices.contains(index) else { return Given(.null) }
    return Given(entries[index])
  }

  var names: [String] {
    guard case .object(let members) = json else { return [] }
    return members.keys.sorted()
  }

  var list: [Given] {
    guard case .array(let entries) = json else { return [self] }
    return entries.map(Given.init)
  }

  var text: String? { if case .string(let text) = json { text } else { nil } }
  var whole: Int? { if case .integer(let number) = json { number } else { nil } }
  var flag: Bool? { if case .bool(let flag) = json { flag } else { nil } }
  var number: Double? { if case .number(let number) = json { number } else { whole.map(Double.init) } }
  var texts: [String: String] {
    names.reduce(into: [:]) { found, name in found[name] = self[name]?.text }
  }

  /// Seconds, as the other clients take them.
  var seconds: Duration? { number.map { .milliseconds(Int($0 * 1000)) } }

  /// A duration or a time as the contract writes them.
  var moment: RedialAPI.Moment? { try? decoded(RedialAPI.Moment.self) }
  var duration: Duration? { if case .after(let duration)? = moment { duration } else { nil } }
  var date: Date? { if case .at(let date)? = moment { date } else { nil } }

  func word<Word: RedialWord>(_ type: Word.Type) -> Word? { text.map(Word.init) }
  func words<Word: RedialWord>(_ type: Word.Type) -> [Word] { list.compactMap { $0.word(type) } }

  /// A member of a patch.
  func change<Value>(_ name: String, _ value: (Given) -> Value?) -> RedialNullable<Value> {
    guard let member = self[name] else { return .absent }
    return value(member).map { .value($0) } ?? .null
  }

  /// What a scenario gives as the contract has it.
  func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: JSONEncoder().encode(json))
  }
}

extension Given {
  /// A call as a program would make it.
  var call: OutgoingCall {
    get throws {
      guard let text = self["url"]?.text, let url = URL(string: text) else {
        throw Unusable(what: "the call has no URL")
      }
      var call = OutgoingCall(url, method: self["method"]?.text)
      if let body = self["body"]?.text { call.body = .text(body) }
      if let json = self["json"]?.json { call.body = .json(json) }
      if let delay = self["delay"]?.duration { call.start = .after(delay) }
      call.labels = self["labels"]?.texts ?? [:]
      call.target = self["target"]?.text
      call.policy = self["policy"]?.policy
      if let url = self["callback"]?["url"]?.text.flatMap({ URL(string: $0) }) {
        call.callback = OutgoingCall.Callback(url)
      }
      return call
    }
  }

  /// The parts of a policy that the scenarios use, or its name.
  var policy: CallPolicy? {
    if let name = text { return .stored(name) }
    var policy = CallPolicy()
    policy.maxAttempts = self["maxAttempts"]?.whole
    policy.deadline = self["deadline"]?.duration
    if let backoff = self["backoff"] {
      policy.backoff = Backoff(
        initial: backoff["initial"]?.duration ?? .milliseconds(500), maximum: backoff["max"]?.duration ?? .seconds(3600)
      )
    }
    return policy
  }

  /// The conditions of a list.
  var filter: CallFilter {
    var filter = CallFilter()
    filter.state = self["state"]?.words(RedialCall.State.self) ?? []
    filter.target = self["target"]?.text
    filter.labels = self["labels"]?.texts ?? [:]
    filter.createdAfter = self["createdAfter"]?.date
    filter.createdBefore = self["createdBefore"]?.date
    filter.olderThan = self["olderThan"]?.duration
    filter.attempts = self["attempts"]?.whole
    filter.waitingOn = self["waitingOn"]?.word(RedialCall.WaitReason.self)
    filter.issue = self["issue"]?.text
    filter.idempotencyKey = self["idempotencyKey"]?.text
    filter.kind = self["kind"]?.word(RedialCall.Kind.self)
    return filter
  }
}

/// A scenario gives what the driver cannot use.
struct Unusable: Error, CustomStringConvertible {
  var what: String
  var description: String { what }
}
