internal import RedialCore
internal import RedialEngine

/// The condition of a command as one instance sends it to another. Clients cannot give one.
extension CallCommand.Condition {
  /// The parameter of the query, which is signed.
  static let parameter = "condition"

  private static let unfinishedText = "unfinished"
  private static let endedPrefix = "endedBy-"

  /// The value of the parameter.
  var text: String {
    switch self {
    case .ended(let time): "\(Self.endedPrefix)\(time.microseconds)"
    case .unfinished: Self.unfinishedText
    }
  }

  /// Reads the value of the parameter; nil if it is none.
  init?(text: String) {
    if text == Self.unfinishedText {
      self = .unfinished
    } else if text.hasPrefix(Self.endedPrefix), let time = Int64(text.dropFirst(Self.endedPrefix.count)) {
      self = .ended(by: Timestamp(microseconds: time))
    } else {
      return nil
    }
  }
}
