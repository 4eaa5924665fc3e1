internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialTransport
internal import Synchronization

/// The credentials of attempts, and the tokens that are fetched for them.
final class AttemptCredentials: Sendable {
  let known: NamedCredentials
  private let state = Mutex(State())
  private let log: Log

  private struct State: Sendable {
    var tokens = TokenBook()
    /// The fetches that are on their way, by the ids of their requests.
    var fetches: [UInt64: Fetch] = [:]
    var lastFetch = AttemptCredentials.firstFetch
  }

  private struct Fetch: Sendable {
    let credential: Credential
  }

  /// Ids from here on belong to fetches: those of calls are positive as signed numbers.
  private static let firstFetch: UInt64 = 1 << 63

  init(_ known: NamedCredentials, log: Log) {
    (self.known, self.log) = (known, log)
  }

  /// What an attempt does about its credentials.
  enum Plan {
    /// It needs none.
    case none
    case add(AttemptProof)
    /// It waits for a token.
    case wait
    /// It cannot be made. The text is a sentence for people.
    case unavailable(String)
  }

  /// What an attempt does, and the fetch of a token that has to begin.
  func plan(_ start: AttemptStart, at now: Timestamp) -> (plan: Plan, fetch: TransportRequest?) {
    guard start.credential != nil || start.signing != nil else { return (.none, nil) }
    var proof = AttemptProof()
    do throws(TokenFault) {
      switch start.signing {
      case .given(let content): proof.signing = content
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
  ) -> (Plan, TransportRequest?) {
    state.withLock { state in
      let call = UInt64(start.call.id.rawValue)
      let (answer, mustFetch) = state.tokens.need(credential, by: call, at: now)
      var fetch: TransportRequest?
      if mustFetch {
        state.lastFetch += 1
        do throws(TokenFault) {
          fetch = try TokenRequest.request(credential.content, id: state.lastFetch, at: now)
          state.fetches[state.lastFetch] = Fetch(credential: credential)
        } catch {
          _ = state.tokens.fetched(credential.key, of: credential.changedAt, .failure(error), at: now)
          return (.unavailable(error.message), nil)
        }
      }
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
      ready += state.withLock { state in
        guard let credential = state.fetches.removeValue(forKey: ended.id)?.credential else { return [] }
        let token = TokenRequest.token(in: ended.result, from: credential.content[.tokenURL], at: now)
        if case .failure(let fault) = token {
          log.write(.warning, "tokenNotFetched", [("credential", credential.key.text), ("error", fault.message)])
        }
        return state.tokens.fetched(credential.key, of: credential.changedAt, token, at: now)
      }
    }
    return (others, ready)
  }

  /// A target has answered 401 to a proof.
  ///
  /// - Returns: Whether the attempt is made once more, with another token.
  func refused(_ proof: AttemptProof, of start: AttemptStart) -> Bool {
    guard let token = proof.token, let name = start.credential,
      let credential = known[CredentialName(name, in: start.call.spec.namespace)],
      credential.content == proof.credential
    else { return false }
    return state.withLock { $0.tokens.refused(token, of: credential) }
  }

  /// How the token of a credential stands.
  func standing(of credential: Credential, at now: Timestamp) -> TokenBook.Standing {
    state.withLock { $0.tokens.standing(of: credential, at: now) }
  }
}
