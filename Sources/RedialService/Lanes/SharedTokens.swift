internal import RedialCore
internal import RedialModel
internal import RedialStore

/// Tokens as documents of the store, read and written on its lane.
struct SharedTokens: TokenSharing {
  let store: StoreLane
  let log: Log

  /// How long an instance may take to fetch a token before another one does it: a fetch, and what the store needs.
  private static let claim = TokenRequest.timeout + .seconds(5)

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
    // A token that is renewed ahead of its end stays for the others meanwhile.
    var claimed = known.text == refused || known.changedAt != credential.changedAt ? SharedToken() : known
    (claimed.changedAt, claimed.claimedUntil) = (credential.changedAt, now + claim)
    guard let old else {
      do throws(StoreError) {
        try store.commit([.add(StoredDocument(.accessToken, id: id, claimed.bytes))])
      } catch {
        // Another one was faster, or the store takes nothing.
        guard try store.document(.accessToken, id: id) != nil else { throw error }
        return .wait
      }
      return .fetch
    }
    return try store.replaceDocument(.accessToken, id: id, old, with: claimed.bytes) ? .fetch : .wait
  }

  func keep(_ token: TokenBook.Token?, of credential: Credential) {
    store.afterwards { store in
      do throws(StoreError) {
        let id = credential.documentID
        // It may have been removed meanwhile.
        guard try store.document(.credential, id: id) != nil else { return }
        var kept = try store.document(.accessToken, id: id).flatMap { SharedToken(document: $0) } ?? SharedToken()
        if kept.changedAt != credential.changedAt { kept = SharedToken() }
        (kept.changedAt, kept.claimedUntil) = (credential.changedAt, .epoch)
        if let token { (kept.text, kept.expiresAt, kept.renewAt) = (token.text, token.expiresAt, token.renewAt) }
        try store.commit([.put(StoredDocument(.accessToken, id: id, kept.bytes))])
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
