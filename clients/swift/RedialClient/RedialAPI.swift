public import Foundation
internal import RedialText

/// What the API takes and gives besides calls, with the names of its contract: `RedialAPI.Target` is the schema `Target`.
///
/// Members have the names of the JSON, times are dates, and sets of words are open: see ``RedialWord``.
public enum RedialAPI {
  /// A time, or one that is counted from the request.
  public enum Moment: Sendable, Hashable {
    /// At this time.
    case at(Date)
    /// So long after the request.
    case after(Duration)
  }
}

extension RedialAPI.Moment: Codable {
  /// Reads a time or a duration from JSON.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    if let date = WireTime.date(text) {
      self = .at(date)
    } else {
      self = .after(try WireSpan(from: decoder).duration)
    }
  }

  /// Writes it as the service reads it.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text())
  }

  /// Its text in a request.
  ///
  /// - Throws: `UnsupportedByService` for a time that the service cannot read.
  func text() throws -> String {
    switch self {
    case .at(let date): try WireTime.text(date, part: "a time")
    case .after(let duration): DurationText.format(duration)
    }
  }
}
