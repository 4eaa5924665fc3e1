internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialTransport
internal import Synchronization

/// The credentials of attempts, and the tokens that are fetched for them.
final class AttemptCredentials: Sendable {
  let known: NamedCredentials
  private let state = Mutex(State())
  private let shared: (any TokenSharing)?
  private let log: Log
  /// Whether a proxy sees what is not encrypted.
  private let isProxied: Bool

  private struct State: Sendable {
    var tokens = TokenBook()
    /// The fetches that are on their way, by the ids of their requests.
    var fetches: [UInt64: Credential] = [:]
    var lastFetch = AttemptCredentials.firstFetch
  }

  /// Ids from here on belong to fetches: those of calls are positive as signed numbers.
  private static let firstFetch: UInt64 = 1 << 63

  /// - Parameter shared: Where instances on one store leave tokens; nil if there can be no others.
  init(_ known: NamedCredentials, shared: (any TokenSharing)? = nil, isProxied: Bool = false, log: Log) {
    (self.known, self.shared, self.isProxied, self.log) = (known, shared, isProxied, log)
  }

  /// What an attempt does about its credentials.
  enum Plan {
    case none
    case add(AttemptProof)
    case wait
    /// It cannot be made. The text is a sentence for people.
    case unavailable(String)
  }

  /// What an attempt does, and the credential whose token has to be fetched.
  func plan(_ start: AttemptStart, at now: Timestamp) -> (plan: Plan, fetch: Credential?) {
    guard start.credential != nil || start.signing != nil else { return (.none, nil) }
    var proof = AttemptProof()
    do throws(TokenFault) {
      switch start.signing {
      case .given(let content):
        // The secret of a target signs only what goes to the target's origin: who may name targets would otherwise have anything
        // signed by it.
        let isOwn =
          start.call.spec.signing != nil || (try? TargetURL(start.call.spec.url).origin) == start.call.spec.target.bare
        if isOwn { proof.signing = content }
      case .named(let name):
        proof.signing = try content(name, start, isOfCall: start.call.spec.signing != nil, signs: true)?.content
      case nil: break
      }
      guard let name = start.credential,
        let credential = try content(name, start, isOfCall: start.call.spec.credential != nil, signs: false)
      else { return (proof.signing == nil ? .none : .add(proof), nil) }
      proof.credential = credential.content
      guard credential.content.type == .oauth2 else { return (.add(proof), nil) }
      return withToken(of: credential, proof, for: start, at: now)
    } catch {
      return (.unavailable(error.message), nil)
    }
  }

  /// The credential that an attempt uses; nil if its target has one that the attempt's origin may not see.
  private func content(
    _ name: String, _ start: AttemptStart, isOfCall: Bool, signs: Bool
  ) throws(TokenFault) -> Credential? {
    let name = CredentialName(name, in: start.call.spec.namespace)
    let origin = try? TargetURL(start.call.spec.url).origin
    if let credential = known[name], credential.content.type.signs == signs {
      if let origin, credential.origins.contains(origin) { return credential }
      if !isOfCall { return nil }
    }
    let clause = known.fault(in: name, signs: signs, origin: origin) ?? "cannot be used"
    throw TokenFault(message: "The \(isOfCall ? "call" : "target") \(clause).")
  }

  private func withToken(
    of credential: Credential, _ proof: AttemptProof, for start: AttemptStart, at now: Timestamp
  ) -> (Plan, Credential?) {
    state.withLock { state in
      let call = UInt64(start.call.id.rawValue)
      let (answer, mustFetch) = state.tokens.need(credential, by: call, at: now)
      let fetch = mustFetch ? credential : nil
      switch answer {
      case .use(let token):
        var proof = proof
        proof.token = token
        return (.add(proof), fetch)
      case .wait: return (.wait, fetch)
      case .unavailable(let message): return (.unavailable(message), nil)
      }
    }
  }

  // MARK: Fetching tokens

  /// What is done about the fetch of a token.
  enum FetchStep {
    case send(TransportRequest)
    /// Nothing is sent. These calls ask again.
    case ask([UInt64])
  }

  /// Begins the fetch of a token; with other instances, one of them fetches it for all.
  ///
  /// - Parameter then: Gets what is done, on some thread.
  func fetch(_ credential: Credential, then: @escaping @Sendable (FetchStep) -> Void) {
    guard let shared else { return then(send(credential)) }
    let refused = state.withLock { $0.tokens.refusedToken(of: credential) }
    shared.decide(credential, inPlaceOf: refused) { [self] decision in
      switch decision {
      case .fetch: then(send(credential))
      case .use(let token): then(.ask(fetched(credential, .success(token), at: Clock.wallTime())))
      case .wait:
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.pollInterval) { [self] in
          fetch(credential, then: then)
        }
      }
    }
  }

  /// How often an instance looks whether another one has fetched a token.
  private static let pollInterval = DispatchTimeInterval.milliseconds(100)

  private func send(_ credential: Credential) -> FetchStep {
    let now = Clock.wallTime()
    let id = state.withLock { state in
      state.lastFetch += 1
      state.fetches[state.lastFetch] = credential
      return state.lastFetch
    }
    do throws(TokenFault) {
      if isProxied, TargetURL.isClear(credential.content[.tokenURL]) {
        throw TokenFault(
          message: "No token was asked for: over http:// the proxy would see the client's secret. Use an https:// URL.")
      }
      var request = try TokenRequest.request(credential.content, id: id, at: now)
      request.group = credential.key.hashValue
      return .send(request)
    } catch {
      state.withLock { $0.fetches[id] = nil }
      return .ask(fetched(credential, .failure(error), at: now))
    }
  }

  /// Takes the ends of fetches out of results.
  ///
  /// - Returns: The other results, and the calls whose attempts ask again.
  func take(_ results: [Transport.Ended], at now: Timestamp) -> (others: [Transport.Ended], ready: [UInt64]) {
    guard results.contains(where: { $0.id > Self.firstFetch }) else { return (results, []) }
    var (others, ready) = ([] as [Transport.Ended], [] as [UInt64])
    for ended in results {
      guard ended.id > Self.firstFetch else {
        others.append(ended)
        continue
      }
      guard let credential = state.withLock({ $0.fetches.removeValue(forKey: ended.id) }) else { continue }
      let token = TokenRequest.token(in: ended.result, for: credential.content, at: now)
      shared?.keep(try? token.get(), of: credential)
      ready += fetched(credential, token, at: now)
    }
    return (others, ready)
  }

  private func fetched(
    _ credential: Credential, _ token: Result<TokenBook.Token, TokenFault>, at now: Timestamp
  ) -> [UInt64] {
    if case .failure(let fault) = token {
      log.write(.warning, "tokenNotFetched", [("credential", credential.key.text), ("error", fault.message)])
    }
    return state.withLock { state in
      state.tokens.forget { known[$0] != nil }
      return state.tokens.fetched(credential.key, of: credential.changedAt, token, at: now)
    }
  }

  /// A target has answered to a proof.
  ///
  /// - Returns: Whether it has refused it with 401, and the next attempt has another one.
  func answered(_ status: Int, to proof: AttemptProof, of start: AttemptStart, at now: Timestamp) -> Bool {
    guard status == 401 || proof.token != nil, let used = proof.credential, let name = start.credential else {
      return false
    }
    let key = CredentialName(name, in: start.call.spec.namespace)
    if status == 401 {
      guard let credential = known[key] else { return false }
      // Somebody has changed it while the request was on its way.
      if credential.content != used { return true }
      guard let token = proof.token else { return false }
      let origin = Self.origin(of: start)
      return state.withLock { $0.tokens.refused(token, of: credential, by: origin, at: now) }
    }
    state.withLock { state in
      if state.tokens.hasRefusers(key) { state.tokens.accepted(key, by: Self.origin(of: start)) }
    }
    return false
  }

  private static func origin(of start: AttemptStart) -> String { (try? TargetURL(start.call.spec.url).origin) ?? "" }

  func standing(of credential: Credential, at now: Timestamp) -> TokenBook.Standing {
    state.withLock { $0.tokens.standing(of: credential, at: now) }
  }
}
