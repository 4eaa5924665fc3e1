public import RedialJSON

/// What proves who sends a request, or signs it: a type and its parts.
public struct CredentialContent: Sendable, Hashable {
  public let type: CredentialType
  private var parts: [CredentialPart: String]

  /// A part; empty if it is not given.
  public subscript(part: CredentialPart) -> String { parts[part] ?? "" }

  /// How a client proves to the token endpoint who it is.
  public var clientAuthentication: ClientAuthentication {
    ClientAuthentication(rawValue: self[.clientAuthentication])
      ?? (self[.privateKey].isEmpty ? .basic : .privateKeyJWT)
  }

  /// How it signs its assertion.
  public var algorithm: AssertionAlgorithm { AssertionAlgorithm(rawValue: self[.algorithm]) ?? .rs256 }

  /// How a signature is written.
  public var encoding: SignatureEncoding { SignatureEncoding(rawValue: self[.encoding]) ?? .hex }

  /// The secrets that sign, the newest first.
  public var secrets: [String] { [self[.secret], self[.previousSecret]].filter { !$0.isEmpty } }

  /// Names of header fields that it adds, in lower case: a redirect to another origin must not carry them.
  public var fieldNames: [String] {
    switch type {
    case .bearer, .basic, .oauth2: ["authorization"]
    case .header, .hmacSHA256: [self[.header].lowercased()]
    case .query: []
    case .awsSigV4: ["authorization", "x-amz-security-token", "x-amz-date", "x-amz-content-sha256"]
    case .standardWebhooks: ["webhook-id", "webhook-timestamp", "webhook-signature"]
    case .github: ["x-hub-signature-256"]
    case .stripe: ["stripe-signature"]
    case .slack: ["x-slack-signature", "x-slack-request-timestamp"]
    }
  }
}

extension CredentialContent {
  /// Reads members of an object that is open, or none at the end of it.
  struct Reading {
    private var type: CredentialType?
    private var given: [CredentialPart: String] = [:]

    /// Reads one member; false if it is not one of a credential.
    mutating func read(_ name: String, at pointer: String, from reader: inout DescriptorReader) throws(JSONError)
      -> Bool
    {
      if name == "type" {
        guard let word = try reader.string(pointer) else { return true }
        type = CredentialType(rawValue: word)
        if type == nil {
          let words = CredentialType.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
          reader.fault(pointer, "must be one of \(words)")
        }
        return true
      }
      guard let part = CredentialPart(rawValue: name) else { return false }
      if let text = try reader.string(pointer) { given[part] = text }
      return true
    }

    /// The credential, once all members are read; nil if there are faults, which are recorded.
    func finished(at parent: String, in reader: inout DescriptorReader) -> CredentialContent? {
      guard let type else {
        // Another fault says so if it was given.
        if !reader.faults.contains(where: { $0.pointer == "\(parent)/type" }) {
          reader.fault("\(parent)/type", "is required")
        }
        return nil
      }
      let before = reader.faultCount
      for part in CredentialPart.allCases {
        guard let text = given[part] else { continue }
        let pointer = "\(parent)/\(part.rawValue)"
        if !type.parts.contains(part) {
          reader.fault(pointer, "is not a member of the type \"\(type.rawValue)\"")
        } else if let fault = part.fault(in: text, of: type) {
          reader.fault(pointer, fault)
        }
      }
      for part in type.needed where given[part] == nil {
        reader.fault("\(parent)/\(part.rawValue)", "is required for the type \"\(type.rawValue)\"")
      }
      let content = CredentialContent(type: type, parts: given)
      if type == .oauth2 { Self.checkClient(content, at: parent, in: &reader) }
      return reader.faultCount == before ? content : nil
    }

    private static func checkClient(_ content: CredentialContent, at parent: String, in reader: inout DescriptorReader)
    {
      do throws(TargetURL.URLFault) {
        let origin = try TargetURL(content[.tokenURL]).origin
        if let refusal = reader.limits.egress?.refusal(ofOrigin: origin) {
          reader.fault("\(parent)/tokenURL", "cannot be called: the egress policy refuses \(refusal.clause)")
        }
      } catch {
        if !content[.tokenURL].isEmpty { reader.fault("\(parent)/tokenURL", error.detail) }
      }
      let method = content.clientAuthentication
      let part = method == .privateKeyJWT ? CredentialPart.privateKey : .clientSecret
      if content[part].isEmpty {
        reader.fault("\(parent)/\(part.rawValue)", "is required for the client authentication \"\(method.rawValue)\"")
      }
    }
  }
}

extension CredentialContent {
  /// Writes the members into an open object.
  ///
  /// - Parameter hidingSecrets: Whether people read it: then the secrets are left out.
  func writeMembers(hidingSecrets: Bool, to writer: inout JSONWriter) {
    writer.field("type", type.rawValue)
    for part in type.parts where !(hidingSecrets && part.isSecret) {
      if let text = parts[part] {
        writer.key(part.rawValue)
        writer.string(text)
      }
    }
  }

  func write(hidingSecrets: Bool, to writer: inout JSONWriter) {
    writer.beginObject()
    writeMembers(hidingSecrets: hidingSecrets, to: &writer)
    writer.endObject()
  }
}

/// As a store has it, with its secrets.
extension CredentialContent: FieldValue {
  public static var unset: CredentialContent { CredentialContent(type: .bearer, parts: [:]) }
  public func save(to writer: inout JSONWriter) { write(hidingSecrets: false, to: &writer) }

  public static func read(_ reader: inout JSONReader) throws(JSONError) -> CredentialContent {
    let start = reader.offset
    var (type, parts) = (nil as CredentialType?, [:] as [CredentialPart: String])
    try reader.beginObject()
    while let name = try reader.nextKey() {
      let text = try reader.string()
      if name == "type" { type = CredentialType(rawValue: text) }
      // A part that only a newer version knows is passed over.
      if let part = CredentialPart(rawValue: name) { parts[part] = text }
    }
    guard let type else { throw JSONError(offset: start, reason: "the type of the credential is not known") }
    return CredentialContent(type: type, parts: parts)
  }
}
