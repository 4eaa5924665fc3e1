internal import Dispatch
internal import RedialCore
internal import RedialJSON
internal import RedialModel
internal import RedialStore

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
    /// Another instance fetches it.
    case wait
    case fetch
  }

  /// - Parameter refused: The token that a target has refused, in whose place one is needed.
  func decision(for credential: Credential, inPlaceOf refused: String?, at now: Timestamp) -> Decision {
    guard changedAt == credential.changedAt else { return .fetch }
    // One that is renewed soon would be asked for again at once.
    if !text.isEmpty, text != refused, now < renewAt {
      return .use(TokenBook.Token(text: text, expiresAt: expiresAt, renewAt: renewAt))
    }
    return now < claimedUntil ? .wait : .fetch
  }
}

/// Where instances on one store leave the tokens that they have fetched, so that one fetch serves all of them.
struct SharedTokens: Sendable {
  let store: StoreLane
  let log: Log

  /// How long an instance may take to fetch a token before another one does it: a fetch, and what the store needs.
  private static let claim = TokenRequest.timeout + .seconds(5)

  /// Decides, on the store's lane, where the token of a credential comes from. The decision to fetch is made by one instance
  /// alone. If the store does not say, the instance fetches for itself.
  func decide(
    _ credential: Credential, inPlaceOf refused: String?, then: @escaping @Sendable (SharedToken.Decision) -> Void
  ) {
    store.afterwards { store in
      do {
        then(try Self.decide(credential, inPlaceOf: refused, in: store, at: Clock.wallTime()))
      } catch {
        note(error, of: credential)
        then(.fetch)
      }
    }
  }

  private static func decide(
    _ credential: Credential, inPlaceOf refused: String?, in store: any DocumentStore, at now: Timestamp
  ) throws -> SharedToken.Decision {
    let id = credential.documentID
    let old = try store.document(.accessToken, id: id)
    let known = old.flatMap { SharedToken(document: $0) } ?? SharedToken()
    let decision = known.decision(for: credential, inPlaceOf: refused, at: now)
    guard decision == .fetch else { return decision }
    var claimed = SharedToken()
    (claimed.changedAt, claimed.claimedUntil) = (credential.changedAt, now + claim)
    guard let old else {
      do throws(StoreError) {
        try store.commit([.add(StoredDocument(.accessToken, id: id, claimed.bytes))])
      } catch {
        // Another one was faster.
        return .wait
      }
      return .fetch
    }
    return try store.replaceDocument(.accessToken, id: id, old, with: claimed.bytes) ? .fetch : .wait
  }

  /// Leaves what a fetch has given; without a token another instance may try.
  func keep(_ token: TokenBook.Token?, of credential: Credential) {
    store.afterwards { store in
      var kept = SharedToken()
      kept.changedAt = credential.changedAt
      if let token { (kept.text, kept.expiresAt, kept.renewAt) = (token.text, token.expiresAt, token.renewAt) }
      do throws(StoreError) {
        try store.commit([.put(StoredDocument(.accessToken, id: credential.documentID, kept.bytes))])
      } catch {
        note(error, of: credential)
      }
    }
  }

  private func note(_ error: any Error, of credential: Credential) {
    let reason = (error as? StoreError)?.message ?? "\(error)"
    log.write(.warning, "tokenNotShared", [("credential", credential.key.text), ("error", reason)])
  }
}
