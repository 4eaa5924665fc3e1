import RedialCore
import RedialModel
package import RedialStore

/// Rows for tests, several of each section, with values that are easily lost on the way.
package enum ContentSamples {
  /// Texts: empty, with U+0000, with the mark by which PostgreSQL's store writes that, beyond the first plane, composed
  /// and decomposed, and one whose order differs between the two stores.
  static let texts = [
    "", "plain", "a\0b", "\u{F8FF}", "\u{F8FF}0", "é", "e\u{301}", "📦", "\0", "\u{FFFD}\u{10FFFF}",
    "acme\u{1F}billing – é",
  ]

  /// Byte strings: none, empty, all bytes, and a compressed one.
  static let bytes: [ContentValue] = [
    .null, .bytes([]), .bytes(Array(0...255)),
    .bytes(PayloadCoding.deflated([UInt8](repeating: 7, count: 9000), threshold: 1) ?? []),
  ]

  private static let targets: Int64 = 5

  /// The rows of a section, in no particular order.
  package static func rows(of section: ContentSection) -> [ContentRow] {
    switch section {
    case .namespaces: [row(number(0), text("default")), row(number(7), text("acme")), row(number(1), text("é"))]
    case .targets: texts.indices.map { target($0) }
    case .requests: calls.map { call in row(number(call), .bytes(spec(call)), byte(call), sparse(call, 9000)) }
    case .attempts: calls.flatMap { call in (1...(call % 3 + 1)).map { attempt(call, $0) } }
    case .retries:
      calls.prefix(12).map { call in
        row(number(call), number(call % 1000 * 10), number(2), sparseText(call), sparseText(call / 2))
      }
    case .labels:
      texts.flatMap { name in texts.map { value in row(text(name), text(value), number(firstCall)) } }
    case .turns:
      calls.prefix(20).map { call in
        row(
          number(call), number(call % targets + 1), sparseText(call % 1000 * 3 + 1), number(7),
          flag(call / 2 == firstCall / 2 ? 1 : 0))
      }
    case .keys:
      texts.enumerated().map { place, key in
        row(text(key), number(firstCall + Int64(place)), .bytes(Array(0...31)), number(1), number(.max))
      }
    case .calls: calls.map { call($0) }
    case .documents: texts.map { row(text("apiKey"), text($0), .bytes(Array($0.utf8))) }
    case .settings: texts.map { row(text("x" + $0), text($0)) }
    case .statistics:
      (0..<5).map { (place: Int64) in
        row(number(0), number(place % 2 == 0 ? 60 : 3600), number(place), text("[1,2,3,0,\(place)]"))
      }
    case .finished: [row(number(0), number(5), number(12)), row(number(1), number(6), number(3))]
    }
  }

  private static func target(_ place: Int) -> ContentRow {
    let id = Int64(place)
    return row(number(id + 1), text(texts[place]), byte(id))
  }

  private static func attempt(_ call: Int64, _ count: Int64) -> ContentRow {
    row(
      number(call), number(count), number(count * 1000), number(5), number(count % 3), sparse(call, 503),
      sparseText(call), sparseText(call + 1), byte(call), count == 1 ? .null : flag(call), byte(count),
      byte(call + count), byte(call / 2), sparse(count, 9000))
  }

  static let firstCall = Sample.id(0).rawValue
  private static let calls = Array(firstCall..<(firstCall + 60))

  /// A call in each state, with each reason to wait.
  private static func call(_ id: Int64) -> ContentRow {
    let place = id - firstCall
    let states: [Int64] = [0, 1, 2, 5, 6, 7]
    let state = states[Int(place) % states.count]
    // In flight is 0.
    let waiting = state >= 5 || place % 7 == 0 ? ContentValue.null : number(place % 11)
    let progress = row(number(3), number(1), number(2), number(44), number(700), number(9000))
    return row(
      number(id), number(place % 2), number(id % targets + 1), number(place % 3 == 0 ? 7 : 0), number(1_000_000),
      number(place % 10), number(state), number(place * 1000), waiting) + progress
      + row(state >= 5 ? number(99) : .null, state == 6 ? number(2) : .null)
  }

  /// A spec, of which each third has a callback and each fifth only looks as if it had one.
  private static func spec(_ id: Int64) -> [UInt8] {
    let label = CallSpec.Label(name: "callback", value: "\"callback\"")
    return Sample.spec(
      callback: id % 3 == 0 ? Callback(url: "https://me.example.com", events: [.callFailed]) : nil,
      labels: id % 5 == 0 ? [label] : []
    ).canonicalJSON
  }

  private static func row(_ values: ContentValue...) -> ContentRow { values }
  private static func number(_ number: Int64) -> ContentValue { .integer(number) }
  private static func text(_ text: String) -> ContentValue { .text(Array(text.utf8)) }
  private static func byte(_ place: Int64) -> ContentValue { bytes[Int(place) % bytes.count] }
  private static func flag(_ number: Int64) -> ContentValue { .integer(number % 2) }
  private static func sparse(_ place: Int64, _ value: Int64) -> ContentValue {
    place % 2 == 0 ? .integer(value + place % 100) : .null
  }
  private static func sparseText(_ place: Int64) -> ContentValue {
    place % 3 == 0 ? .null : text(texts[Int(place) % texts.count])
  }
}
