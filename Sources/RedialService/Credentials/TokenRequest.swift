internal import CCrypto
internal import RedialCore
internal import RedialJSON
internal import RedialModel
internal import RedialText
internal import RedialTransport

/// The exchange with a token endpoint (RFC 6749 §4.4).
enum TokenRequest {
  /// The longest that one fetch takes.
  static let timeout = Duration.seconds(10)
  private static let largestAnswer = 64 * 1024
  private static let longestToken = 16 * 1024
  /// How long an assertion is valid.
  private static let assertionTime = Duration.seconds(120)

  /// The request for a token.
  ///
  /// Redirects are not followed: they would carry the client's secret to where somebody else says.
  ///
  /// - Throws: Why there can be none.
  static func request(
    _ content: CredentialContent, id: UInt64, at now: Timestamp
  ) throws(TokenFault) -> TransportRequest {
    var form = [("grant_type", "client_credentials")]
    for part in [CredentialPart.scope, .audience, .resource] where !content[part].isEmpty {
      form.append((part.rawValue, content[part]))
    }
    var fields = [
      HeaderField("Content-Type", "application/x-www-form-urlencoded"), HeaderField("Accept", "application/json"),
    ]
    switch content.clientAuthentication {
    case .basic:
      let pair = "\(PercentCoding.encode(content[.clientID])):\(PercentCoding.encode(content[.clientSecret]))"
      fields.append(HeaderField("Authorization", "Basic " + Base64.encode(Array(pair.utf8))))
    case .post:
      form += [("client_id", content[.clientID]), ("client_secret", content[.clientSecret])]
    case .privateKeyJWT:
      form += [
        ("client_id", content[.clientID]),
        ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        ("client_assertion", try assertion(content, at: now)),
      ]
    }
    let body = form.map { "\($0)=\(PercentCoding.encode($1))" }.joined(separator: "&")
    return TransportRequest(
      id: id, url: content[.tokenURL], method: "POST", headers: fields, body: Array(body.utf8), timeout: timeout,
      captureLimit: largestAnswer)
  }

  /// The token in an answer, or why there is none.
  static func token(
    in result: AttemptResult, for content: CredentialContent, at now: Timestamp
  ) -> Result<TokenBook.Token, TokenFault> {
    let place = (try? TargetURL(content[.tokenURL]).origin) ?? "the token endpoint"
    func fault(_ clause: String) -> Result<TokenBook.Token, TokenFault> {
      // The endpoint may say what it was sent.
      let clause = StruckSecrets(client: content).strike(clause)
      return .failure(TokenFault(message: "No token could be had from \(place): \(clause)"))
    }
    guard result.outcome == .answered, let status = result.status else {
      return fault(result.failure?.message ?? "it did not answer.")
    }
    var shown = result
    // As a whole: the error is cut.
    if !(200...299).contains(status) { StruckSecrets(client: content).strike(&shown, keeping: .max) }
    let answer = Answer(shown.response?.body ?? [])
    guard (200...299).contains(status) else {
      let redirect = (300...399).contains(status) ? "; redirects are not followed" : ""
      return fault("it answered \(status)\(answer.error.map { " (\($0))" } ?? "")\(redirect).")
    }
    guard result.response?.truncated != true else { return fault("its answer is longer than \(largestAnswer) bytes.") }
    guard let token = answer.token, !token.isEmpty, token.utf8.count <= longestToken,
      token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return fault("its answer has no usable \"access_token\".") }
    if let type = answer.type, type.lowercased() != "bearer" {
      return fault("it gave a token of the type \"\(PlainText.escaped(type))\", and only \"Bearer\" can be sent.")
    }
    // It would be asked for again at once, by each attempt.
    guard answer.lifetime.map({ $0 >= .seconds(1) }) ?? true else { return fault("it gave a token that has expired.") }
    return .success(TokenBook.Token(token, lifetime: answer.lifetime, at: now))
  }

  /// The members of an answer (RFC 6749 §5).
  private struct Answer {
    var token: String?
    var type: String?
    var lifetime: Duration?
    /// The code of an error, with its description.
    var error: String?

    init(_ bytes: [UInt8]) {
      try? bytes.withUnsafeBufferPointer { bytes throws(JSONError) in try read(bytes) }
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) {
      var reader = JSONReader(bytes)
      var (code, description) = (nil as String?, nil as String?)
      try reader.beginObject()
      while let name = try reader.nextKey() {
        switch (name, try reader.peek()) {
        case ("access_token", .string): token = try reader.string()
        case ("token_type", .string): type = try reader.string()
        case ("error", .string): code = try reader.string()
        case ("error_description", .string): description = try reader.string()
        case ("expires_in", .number): lifetime = Self.seconds(try reader.double())
        // Some services write a text.
        case ("expires_in", .string): lifetime = Double(try reader.string()).flatMap(Self.seconds)
        default: _ = try reader.skipValue()
        }
        error = [code, description].compactMap { $0 }.joined(separator: ": ")
        error = error.flatMap { $0.isEmpty ? nil : PlainText.escaped(String($0.prefix(200))) }
      }
    }

    private static func seconds(_ value: Double) -> Duration? {
      value.isFinite && value >= 0 ? .seconds(Int64(min(value, 366 * 86_400))) : nil
    }
  }

  // MARK: Assertions

  /// A JSON Web Token in which the client says who it is (RFC 7523 §3).
  private static func assertion(_ content: CredentialContent, at now: Timestamp) throws(TokenFault) -> String {
    guard let key = SignatureKey(pem: content[.privateKey], for: content.algorithm) else {
      throw TokenFault(message: keyFault(content.algorithm))
    }
    guard let random = RandomBytes.make(16) else {
      throw TokenFault(message: "The system has no random bytes to give, so no assertion can be made now.")
    }
    var header = JSONWriter()
    header.beginObject()
    header.field("alg", content.algorithm.rawValue)
    header.field("typ", "JWT")
    if !content[.keyID].isEmpty { header.field("kid", content[.keyID]) }
    header.endObject()
    var claims = JSONWriter()
    let seconds = Int(now.microseconds / 1_000_000)
    claims.beginObject()
    claims.field("iss", content[.clientID])
    claims.field("sub", content[.clientID])
    claims.field("aud", content[.tokenURL])
    claims.field("jti", AttemptSignature.hex(random))
    claims.field("iat", seconds)
    claims.field("exp", seconds + Int(assertionTime.components.seconds))
    claims.endObject()
    let text = base64url(header.bytes) + "." + base64url(claims.bytes)
    guard let signature = try? key.signature(of: SignedBody(text, .held([]))),
      let plain = content.algorithm == .es256 ? rawECDSA(signature) : signature
    else { throw TokenFault(message: "The assertion for the token endpoint could not be signed.") }
    return text + "." + base64url(plain)
  }

  /// What is wrong with a private key that cannot be read.
  static func keyFault(_ algorithm: AssertionAlgorithm) -> String {
    "The private key cannot be used for \(algorithm.rawValue): it must be "
      + (algorithm == .rs256 ? "an RSA key" : "an EC key on P-256") + " in PEM, without a pass phrase."
  }

  /// Base 64 for URLs, without padding (RFC 4648 §5).
  private static func base64url(_ bytes: [UInt8]) -> String {
    Base64.encode(bytes).filter { $0 != "=" }.replacing("+", with: "-").replacing("/", with: "_")
  }

  /// The two numbers of an ECDSA signature, each of 32 bytes (RFC 7518 §3.4), from their ASN.1.
  private static func rawECDSA(_ signature: [UInt8]) -> [UInt8]? {
    signature.withUnsafeBufferPointer { bytes in
      var next = bytes.baseAddress
      guard let pair = d2i_ECDSA_SIG(nil, &next, bytes.count) else { return nil }
      defer { ECDSA_SIG_free(pair) }
      var numbers = [UInt8](repeating: 0, count: 64)
      let isWritten = numbers.withUnsafeMutableBufferPointer { numbers in
        guard let start = numbers.baseAddress else { return false }
        return BN_bn2binpad(ECDSA_SIG_get0_r(pair), start, 32) == 32
          && BN_bn2binpad(ECDSA_SIG_get0_s(pair), start + 32, 32) == 32
      }
      return isWritten ? numbers : nil
    }
  }
}
