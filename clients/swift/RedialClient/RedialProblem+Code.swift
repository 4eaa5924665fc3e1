extension RedialProblem {
  /// What kind of problem it is: a word that programs can match. A later version of the service may have more of them.
  ///
  /// ```swift
  /// func isOver(_ problem: RedialProblem) -> Bool {
  ///   switch problem.code {
  ///   case .callEnded, .callNotFound: true
  ///   default: false
  ///   }
  /// }
  /// ```
  public struct Code: RedialWord, ExpressibleByStringLiteral {
    /// The word.
    public let rawValue: String
    /// A code with that word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A code with that word.
    public init(stringLiteral value: String) { rawValue = value }
  }
}
