public import RedialCore

extension AdaptivePace.Reason {
  /// The word in the API.
  public var word: String {
    switch self {
    case .noOverload: "noOverload"
    case .recovered: "recovered"
    case .grew: "grew"
    case .refused: "refused"
    case .queued: "queued"
    case .notLoad: "notLoad"
    }
  }
}
