internal import RedialCore
internal import RedialJSON
internal import RedialModel

/// The access token of a credential as several instances share it: the token, or which instance fetches it.
struct SharedToken: StoredRecord, Equatable {
  /// Which content of the credential it belongs to.
  var changedAt = Timestamp.epoch
  var text = ""
  var expiresAt = Timestamp.epoch
  var renewAt = Timestamp.epoch
  /// Until when the others leave the fetch to one of them.
  var claimedUntil = Timestamp.epoch

  init() {}

  static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout SharedToken
  ) throws(Visitor.Failure) {
    try visitor.visit("changedAt", &record.changedAt)
    try visitor.visit("text", &record.text)
    try visitor.visit("expiresAt", &record.expiresAt)
    try visitor.visit("renewAt", &record.renewAt)
    try visitor.visit("claimedUntil", &record.claimedUntil)
  }

  /// What an instance that needs a token does.
  enum Decision: Equatable {
    case use(TokenBook.Token)
    case wait
    case fetch
  }

  /// - Parameter refused: The token that a target has refused, in whose place one is needed.
  func decision(for credential: Credential, inPlaceOf refused: String?, at now: Timestamp) -> Decision {
    guard changedAt == credential.changedAt else { return .fetch }
    let isClaimed = now < claimedUntil
    guard !text.isEmpty, text != refused, now < expiresAt else { return isClaimed ? .wait : .fetch }
    // While another instance renews it, nobody asks for it again.
    guard now < renewAt || isClaimed else { return .fetch }
    return .use(
      TokenBook.Token(text: text, expiresAt: expiresAt, renewAt: isClaimed ? min(expiresAt, claimedUntil) : renewAt))
  }
}

/// Where instances on one store leave the tokens that they have fetched, so that one fetch serves all of them.
protocol TokenSharing: Sendable {
  /// Decides where the token of a credential comes from. The decision to fetch is made by one instance alone. If the store
  /// does not say, the instance fetches for itself.
  ///
  /// - Parameters:
  ///   - refused: The token that a target has refused, in whose place one is needed.
  ///   - then: Gets the decision, on some thread.
  func decide(
    _ credential: Credential, inPlaceOf refused: String?, then: @escaping @Sendable (SharedToken.Decision) -> Void)

  /// Leaves what a fetch has given; without a token another instance may try.
  func keep(_ token: TokenBook.Token?, of credential: Credential)
}
