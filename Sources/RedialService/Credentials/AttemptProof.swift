internal import RedialCore
internal import RedialModel
internal import RedialText

/// What proves who sends an attempt, once all of it is there.
struct AttemptProof: Sendable {
  /// What authenticates it; nil for nothing.
  var credential: CredentialContent?
  /// The access token of the credential, if it has one.
  var token: String?
  /// What signs it; nil for nothing.
  var signing: CredentialContent?

  /// Whether the body is read for it.
  var readsBody: Bool { signing != nil || credential?.type == .awsSigV4 }

  /// Names of fields that no redirect carries to another origin, in lower case.
  var fieldNames: [String] { (credential?.fieldNames ?? []) + (signing?.fieldNames ?? []) }

  /// Why it cannot be added, as a sentence for people.
  struct Fault: Error {
    var code: String
    var message: String
  }

  /// Adds it to a request, in place of fields of the same names. The host is that of the URL then: another one would lead it to
  /// somebody else behind the same front end.
  ///
  /// - Parameter id: The id of a signed message, the same for all attempts.
  func add(
    to head: inout AttemptHead, id: String, method: String, body: RequestBytes, at now: Timestamp
  ) throws(Fault) {
    let names = fieldNames
    head.fields.removeAll { field in
      // Of a coding that is asked for, nobody here sees what it says of the credential.
      field.isNamed("host") || credential != nil && field.isNamed("accept-encoding")
        || names.contains(field.name.lowercased())
    }
    do throws(BodyUnreadable) {
      if let signing {
        guard let fields = try AttemptSignature.fields(signing, id: id, body: body, at: now) else {
          throw BodyUnreadable(message: "The attempt could not be signed: libcrypto cannot use the secret")
        }
        head.fields += fields
      }
      if let credential { try Self.add(credential, token, to: &head, method, body, at: now) }
    } catch {
      throw Fault(code: error.code, message: error.message + ".")
    }
  }

  private static func add(
    _ credential: CredentialContent, _ token: String?, to head: inout AttemptHead, _ method: String,
    _ body: RequestBytes, at now: Timestamp
  ) throws(BodyUnreadable) {
    switch credential.type {
    case .bearer: head.fields.append(HeaderField("Authorization", "Bearer \(credential[.token])"))
    case .oauth2: head.fields.append(HeaderField("Authorization", "Bearer \(token ?? "")"))
    case .basic:
      let pair = Array("\(credential[.username]):\(credential[.password])".utf8)
      head.fields.append(HeaderField("Authorization", "Basic " + Base64.encode(pair)))
    case .header: head.fields.append(HeaderField(credential[.header], credential[.value]))
    case .query:
      let parameter = "\(PercentCoding.encode(credential[.parameter]))=\(PercentCoding.encode(credential[.value]))"
      let url = head.url.prefix { $0 != "#" }
      head.url = url + (url.contains("?") ? "&" : "?") + parameter
    case .awsSigV4:
      guard let fields = try AWSSignature.fields(credential, head, method: method, body: body, at: now) else {
        throw BodyUnreadable(message: "The attempt could not be signed: libcrypto has no memory")
      }
      head.fields += fields
    case .standardWebhooks, .github, .stripe, .slack, .hmacSHA256: break
    }
  }
}
