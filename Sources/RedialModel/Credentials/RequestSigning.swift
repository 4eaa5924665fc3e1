public import RedialJSON

/// How each attempt of a call is signed when it is made.
public enum RequestSigning: Sendable, Hashable {
  /// By a stored credential.
  case named(String)
  /// By secrets that are given with the call.
  case given(CredentialContent)

  /// Whether it has secrets in it.
  public var hasSecrets: Bool {
    if case .given = self { true } else { false }
  }

  /// Why secrets are refused by a service that cannot encrypt them.
  public static let keyFault =
    "cannot be stored, because there is no key to encrypt secrets with; the operator sets encryptionKeyFile"

  /// The members of an object that says it.
  static let names: [String] = {
    let parts = Set(CredentialType.allCases.filter(\.signs).flatMap(\.parts))
    return ["type"] + CredentialPart.allCases.filter(parts.contains).map(\.rawValue)
  }()

  /// Reads it: the name of a credential, or an object; nil for a fault, which is recorded, and for null in a patch.
  init?(at pointer: String, from reader: inout DescriptorReader) throws(JSONError) {
    if try reader.json.peek() == .string {
      self = .named(try reader.json.string())
      return
    }
    guard
      try reader.expect(
        .object, pointer,
        "must be the name of a credential, or an object such as {\"type\": \"github\", \"secret\": \"…\"}")
    else { return nil }
    try reader.json.beginObject()
    var reading = CredentialContent.Reading()
    var members = Members(Self.names)
    while let name = try reader.nextMember(&members, of: "sign", at: pointer) {
      _ = try reading.read(name, at: "\(pointer)/\(name)", from: &reader)
    }
    guard let content = reading.finished(at: pointer, in: &reader) else { return nil }
    guard content.type.signs else {
      reader.fault(
        "\(pointer)/type", "must be one of \(CredentialType.words(signing: true)); store the others as credentials")
      return nil
    }
    self = .given(content)
  }

  /// Writes it: a name, or an object.
  public func write(hidingSecrets: Bool, to writer: inout JSONWriter) {
    switch self {
    case .named(let name): writer.string(name)
    case .given(let content): content.write(hidingSecrets: hidingSecrets, to: &writer)
    }
  }
}

struct SigningMember: MemberForm {
  func read(
    _ name: StaticString, into value: inout RequestSigning?, from reader: inout DescriptorReader
  ) throws(JSONError) {
    value = try RequestSigning(at: "/\(name)", from: &reader) ?? value
  }

  func write(_ name: StaticString, _ value: RequestSigning?, hiding redaction: Redaction?, to writer: inout JSONWriter)
  {
    guard let value else { return }
    writer.key(name)
    value.write(hidingSecrets: redaction != nil, to: &writer)
  }
}
