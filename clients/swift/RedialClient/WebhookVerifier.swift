public import Foundation

/// Checks that a webhook comes from the service (Standard Webhooks, symmetric signatures).
///
/// ```swift
/// func receive(_ body: Data, _ headers: [String: String], secret: String) throws -> RedialEvent {
///   try WebhookVerifier(secret: secret).verify(body, headers: headers)
/// }
/// ```
///
/// `redial webhook-secret` and the creation of an endpoint show the secret. A webhook may arrive more than once, always
/// with the same ``RedialEvent/id``.
public struct WebhookVerifier: Sendable {
  private let keys: [[UInt8]]
  /// How far the webhook's time may be from now, in both directions; a recorded webhook is refused after that. Default
  /// five minutes.
  public var tolerance = Duration.seconds(300)
  /// The clock.
  public var clock: any RetryClock = SystemRetryClock()

  /// Creates a verifier.
  ///
  /// - Parameter secret: `whsec_` and base64, as the service shows it.
  /// - Throws: ``WebhookRejected/unusableSecret``.
  public init(secret: String) throws(WebhookRejected) {
    try self.init(secrets: [secret])
  }

  /// Creates a verifier for several secrets, one of which must have signed: the old and the new one while a secret is
  /// rotated.
  ///
  /// - Parameter secrets: Each `whsec_` and base64, as the service shows it; at least one.
  /// - Throws: ``WebhookRejected/unusableSecret`` if one of them is something else, or if there is none.
  public init(secrets: [String]) throws(WebhookRejected) {
    guard !secrets.isEmpty else { throw .unusableSecret }
    var keys: [[UInt8]] = []
    for secret in secrets {
      let text = secret.hasPrefix("whsec_") ? String(secret.dropFirst(6)) : secret
      guard let key = Data(base64Encoded: text), !key.isEmpty else { throw .unusableSecret }
      keys.append(Array(key))
    }
    self.keys = keys
  }

  /// Returns the event of a webhook, if it is authentic and fresh.
  ///
  /// - Parameters:
  ///   - body: The request's body, byte for byte as received.
  ///   - headers: The request's header fields; the case of their names does not matter.
  public func verify(_ body: Data, headers: [String: String]) throws(WebhookRejected) -> RedialEvent {
    var fields: [String: String] = [:]
    for (name, value) in headers { fields[name.lowercased()] = value }
    guard let id = fields["webhook-id"], let time = fields["webhook-timestamp"],
      let signatures = fields["webhook-signature"]
    else { throw .missingHeader }
    guard let seconds = Int64(time), seconds >= 0, seconds < 1 << 40 else { throw .missingHeader }
    let message = Array("\(id).\(time).".utf8) + Array(body)
    let codes = keys.map { SHA256.authenticationCode(of: message, key: $0) }
    // Several if the secret was changed recently.
    let isGenuine = signatures.split(separator: " ").contains { signature in
      guard signature.hasPrefix("v1,"), let given = Data(base64Encoded: String(signature.dropFirst(3))) else {
        return false
      }
      return codes.contains { Self.isSame(Array(given), $0) }
    }
    guard isGenuine else { throw .wrongSignature }
    let sent = Timestamp.epoch + .seconds(seconds)
    let age = clock.wallTime - sent
    guard age <= tolerance, age >= .zero - tolerance else { throw .tooOld(age: age) }
    do {
      return try RedialEvent(id: id, json: body)
    } catch {
      throw .unreadable(error)
    }
  }

  /// Whether two codes are equal, in a time that does not show where they differ.
  private static func isSame(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// Why a webhook is refused.
public enum WebhookRejected: LocalizedError, Sendable, CustomStringConvertible {
  /// The secret is not `whsec_` and base64.
  case unusableSecret
  /// A header field of the standard is missing, or its time is not a number of seconds.
  case missingHeader
  /// It was not signed with any of the secrets, or was changed on its way.
  case wrongSignature
  /// Its time is too far from now; a negative age is in the future.
  case tooOld(age: Duration)
  /// It is genuine, and this version cannot read it.
  case unreadable(any Error)

  /// For people.
  public var description: String {
    switch self {
    case .unusableSecret:
      "a secret is not whsec_ and base64, or there is none; ask the service for it: redial webhook-secret"
    case .missingHeader: "webhook-id, webhook-timestamp or webhook-signature is missing or malformed"
    case .wrongSignature:
      "no signature matches: it is not the service's, its body was changed, or the secret is another"
    case .tooOld(let age): "its time is \(age.inSeconds) s away from now; is the clock right?"
    case .unreadable(let error): "it is genuine and cannot be read: \(error)"
    }
  }
  /// The same.
  public var errorDescription: String? { description }
}
