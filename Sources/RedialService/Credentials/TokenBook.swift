internal import RedialCore
internal import RedialModel

/// The access tokens of credentials: when one is fetched, who waits for it, and what happens while the token endpoint is down.
///
/// A value that is given events and the time, and returns decisions. One fetch serves all calls that wait.
struct TokenBook {
  /// A token as its endpoint gave it.
  struct Token: Equatable {
    var text: String
    /// When it is not used any more.
    var expiresAt: Timestamp
    /// From when on another one is fetched, while this one is still used.
    var renewAt: Timestamp

    /// The time that a token has if its endpoint does not say.
    static let usualLifetime = Duration.seconds(300)

    /// A token that another instance was given.
    init(text: String, expiresAt: Timestamp, renewAt: Timestamp) {
      (self.text, self.expiresAt, self.renewAt) = (text, expiresAt, renewAt)
    }

    /// A token that was given now.
    ///
    /// - Parameter lifetime: From `expires_in` (RFC 6749 §5.1); nil if it was left out.
    init(_ text: String, lifetime: Duration?, at now: Timestamp) {
      let lifetime = max(.zero, lifetime ?? Self.usualLifetime)
      self.text = text
      // A request may be on its way for some seconds.
      expiresAt = now + (lifetime - min(.seconds(5), lifetime / 2))
      renewAt = now + (lifetime - min(.seconds(60), lifetime / 5))
    }
  }

  /// What an attempt that needs a token does.
  enum Answer: Equatable {
    case use(String)
    /// It waits for the fetch, whose end names it.
    case wait
    /// It cannot be made. The text is a sentence for people.
    case unavailable(String)
  }

  /// How a credential's token stands, for people.
  enum Standing: Equatable {
    case none
    case fetching
    case valid(until: Timestamp)
    /// The endpoint failed; nobody asks it before a time.
    case failing(String, until: Timestamp)
  }

  private struct Entry {
    /// Which content of the credential it belongs to.
    var changedAt: Timestamp
    var token: Token?
    var isFetching = false
    var waiting: [UInt64] = []
    /// Fetches that failed, without a success between them.
    var failures = 0
    var problem = ""
    /// Until when no fetch begins.
    var closedUntil = Timestamp.epoch
    /// The token that a target has refused.
    var refused: String?
    /// The origins that have refused a token, and when, as long as they have accepted none since.
    var refusers: [String: Timestamp] = [:]
  }

  private var entries: [CredentialName: Entry] = [:]

  /// An origin that refuses one token after the other causes a fetch for each so much time.
  static let refusalPause = Duration.seconds(60)
  /// The most origins of a credential that are remembered.
  static let mostRefusers = 64
  /// The longest pause between two fetches from an endpoint that fails.
  static let longestPause = Duration.seconds(60)

  /// An attempt needs the token of a credential.
  ///
  /// - Returns: What it does, and whether a fetch has to begin.
  mutating func need(_ credential: Credential, by call: UInt64, at now: Timestamp) -> (Answer, mustFetch: Bool) {
    var entry = entry(of: credential)
    defer { entries[credential.key] = entry }
    if let token = entry.token, now < token.expiresAt {
      let mustFetch = now >= token.renewAt && !entry.isFetching && now >= entry.closedUntil
      if mustFetch { entry.isFetching = true }
      return (.use(token.text), mustFetch)
    }
    entry.token = nil
    guard now >= entry.closedUntil else { return (.unavailable(entry.problem), false) }
    entry.waiting.append(call)
    guard !entry.isFetching else { return (.wait, false) }
    entry.isFetching = true
    return (.wait, true)
  }

  /// A fetch has ended. One for a content that has changed since says nothing.
  ///
  /// - Parameter result: The token, or why there is none, as a sentence for people.
  /// - Returns: The calls that wait no more: they ask again.
  mutating func fetched(
    _ name: CredentialName, of changedAt: Timestamp, _ result: Result<Token, TokenFault>, at now: Timestamp
  ) -> [UInt64] {
    guard var entry = entries[name], entry.changedAt == changedAt, entry.isFetching else { return [] }
    entry.isFetching = false
    let waiting = entry.waiting
    entry.waiting = []
    switch result {
    case .success(let token):
      (entry.token, entry.failures, entry.problem) = (token, 0, "")
      (entry.closedUntil, entry.refused) = (.epoch, nil)
    case .failure(let fault):
      entry.failures += 1
      entry.problem = fault.message
      // 1, 2, 4 … seconds.
      entry.closedUntil = now + min(Self.longestPause, .seconds(1 << min(entry.failures - 1, 6)))
    }
    entries[name] = entry
    return waiting
  }

  /// A target has answered 401 to a token.
  ///
  /// - Returns: Whether the next attempt has another one. Not if the origin has just refused one, and accepted none since: it
  ///   would refuse that, too.
  mutating func refused(_ token: String, of credential: Credential, by origin: String, at now: Timestamp) -> Bool {
    var entry = entry(of: credential)
    defer { entries[credential.key] = entry }
    // Another one is there already, or is asked for by the next attempt.
    guard entry.token?.text == token else { return true }
    if let before = entry.refusers[origin], now >= before, now - before < Self.refusalPause { return false }
    if entry.refusers.count >= Self.mostRefusers { entry.refusers.removeAll() }
    entry.refusers[origin] = now
    (entry.token, entry.refused) = (nil, token)
    return true
  }

  /// Whether an origin has refused a token, and accepted none since.
  func hasRefusers(_ name: CredentialName) -> Bool { entries[name]?.refusers.isEmpty == false }

  /// A target has accepted a token.
  mutating func accepted(_ name: CredentialName, by origin: String) { entries[name]?.refusers[origin] = nil }

  /// The token of a credential in whose place another one is needed, because a target has refused it.
  func refusedToken(of credential: Credential) -> String? { entries[credential.key]?.refused }

  func standing(of credential: Credential, at now: Timestamp) -> Standing {
    guard let entry = entries[credential.key], entry.changedAt == credential.changedAt else { return .none }
    if let token = entry.token, now < token.expiresAt { return .valid(until: token.expiresAt) }
    if entry.isFetching { return .fetching }
    return entry.failures > 0 ? .failing(entry.problem, until: entry.closedUntil) : .none
  }

  /// Forgets credentials that are not there any more, unless somebody waits for their tokens.
  mutating func forget(unless isKnown: (CredentialName) -> Bool) {
    entries = entries.filter { isKnown($0.key) || $0.value.isFetching || !$0.value.waiting.isEmpty }
  }

  /// The entry of a credential, a new one if its content has changed: those that wait then wait for the new one.
  private func entry(of credential: Credential) -> Entry {
    if let known = entries[credential.key] {
      if known.changedAt == credential.changedAt { return known }
      return Entry(changedAt: credential.changedAt, waiting: known.waiting)
    }
    return Entry(changedAt: credential.changedAt)
  }
}

/// Why there is no token. The message is a sentence for people, without secrets.
struct TokenFault: Error, Equatable {
  var message: String
}
