internal import Foundation
internal import RedialText

/// A date as the service writes times.
struct WireInstant: Codable {
  var date: Date

  init(_ date: Date) { self.date = date }

  init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let date = WireTime.date(text) else { throw unreadable("\(text) is no RFC 3339 time", decoder) }
    self.date = date
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(WireTime.text(date, part: "a time"))
  }
}

/// A duration as the service writes them.
struct WireSpan: Codable {
  var duration: Duration

  init(_ duration: Duration) { self.duration = duration }

  init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let duration = DurationText.parse(text) else { throw unreadable("\(text) is no duration", decoder) }
    self.duration = duration
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(DurationText.format(duration))
  }
}

private func unreadable(_ what: String, _ decoder: any Decoder) -> DecodingError {
  .dataCorrupted(DecodingError.Context(codingPath: decoder.codingPath, debugDescription: what))
}
