internal import Synchronization

/// The stored credentials in memory, from which attempts take them.
///
/// It follows the store: code that changes a credential there updates it once the change is on disk.
public final class NamedCredentials: Sendable {
  private let book = Mutex<[CredentialName: Credential]>([:])
  /// Those that cannot be read. Calls that name them wait.
  private let unreadable = Mutex<Set<CredentialName>>([])

  /// No credentials.
  public init() {}

  /// Takes all stored credentials in place of what it has.
  ///
  /// - Parameter damaged: The ids of the documents that cannot be read.
  public func replace(with stored: [Credential], damaged: [String] = []) {
    unreadable.withLock { $0 = Set(damaged.compactMap(Credential.name(of:))) }
    let known = Dictionary(stored.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
    book.withLock { $0 = known }
  }

  public subscript(name: CredentialName) -> Credential? { book.withLock { $0[name] } }

  public func set(_ credential: Credential) {
    book.withLock { $0[credential.key] = credential }
    unreadable.withLock { _ = $0.remove(credential.key) }
  }

  public func remove(_ name: CredentialName) {
    book.withLock { $0[name] = nil }
    unreadable.withLock { _ = $0.remove(name) }
  }

  /// The names of a namespace's credentials that cannot be read.
  public func damaged(in namespace: Namespace) -> [String] {
    unreadable.withLock { $0 }.filter { $0.namespace == namespace }.map(\.bare).sorted()
  }

  /// The credentials of a namespace, by name.
  public func all(in namespace: Namespace) -> [Credential] {
    book.withLock { Array($0.values) }.filter { $0.namespace == namespace }.sorted { $0.name < $1.name }
  }

  /// What is wrong with a name that a call gives; nil for nothing.
  ///
  /// - Parameters:
  ///   - signs: Whether it is to sign the call.
  ///   - origin: Where the call goes; nil if that is not known.
  public func fault(in name: CredentialName, signs: Bool, origin: String?) -> String? {
    guard let credential = self[name] else {
      if unreadable.withLock({ $0.contains(name) }) {
        return
          "names the credential \"\(name.bare)\", which cannot be read in the store; PUT /v1/credentials/\(name.bare) "
          + "makes it anew"
      }
      return "names the credential \"\(name.bare)\", which does not exist; PUT /v1/credentials/\(name.bare) makes it"
    }
    guard credential.content.type.signs == signs else {
      return signs
        ? "names the credential \"\(name.bare)\", whose type \"\(credential.content.type.rawValue)\" does not sign; "
          + "one of \(CredentialType.words(signing: true)) does"
        : "names the credential \"\(name.bare)\", whose type \"\(credential.content.type.rawValue)\" signs; give it as \"sign\""
    }
    guard let origin, !credential.origins.contains(origin) else { return nil }
    return "names the credential \"\(name.bare)\", which may not be sent to \(origin); its origins are "
      + credential.origins.joined(separator: ", ")
  }
}

extension NamedCredentials: Hashable {
  /// Whether they are the same object.
  public static func == (one: NamedCredentials, other: NamedCredentials) -> Bool { one === other }

  /// Feeds the object's identity to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
