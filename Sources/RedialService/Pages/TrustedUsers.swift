internal import HTTPServer
internal import RedialModel

/// The people whom a proxy has signed in, and what they may do.
///
/// The proxy names a person and the person's groups in header fields, which anybody can write. So they count only from a
/// peer in ``TrustedProxies``; from anybody else a request with the field of the name is refused, because a client that is
/// not refused could believe that it is somebody.
struct TrustedUsers: Sendable {
  /// Somebody who has signed in.
  struct Person: Sendable, Hashable {
    let name: String
    let scopes: Set<APIScope>
  }

  /// The fields, in lower case; empty for none.
  let userField: String
  let groupsField: String
  let scopes: GroupScopes
  let proxies: TrustedProxies

  /// Whether proxies sign people in.
  var isOn: Bool { !userField.isEmpty }

  /// The person who makes a request; nil for a request without the field.
  func person(of request: borrowing HTTPRequest) throws(Problem) -> Person? {
    guard isOn else { return nil }
    var (names, groups) = ([String](), [String]())
    request.forEachHeader { name, value in
      guard name.count == userField.utf8.count || name.count == groupsField.utf8.count else { return }
      let name = String(decoding: name, as: UTF8.self).lowercased()
      if name == userField { names.append(String(decoding: value, as: UTF8.self)) }
      if name == groupsField { groups.append(String(decoding: value, as: UTF8.self)) }
    }
    guard !names.isEmpty else { return nil }
    guard proxies.trusts(request.cameByUnixSocket ? nil : request.peer) else {
      throw Problem(
        .untrustedUser,
        detail:
          "The field \(userField) says who has signed in, and the request is not of a proxy in trustedProxies. Send it "
          + "without the field, or by the proxy.",
        errors: [.init(header: userField, detail: "is taken only from trustedProxies")])
    }
    return try person(names, groups)
  }

  /// - Parameters:
  ///   - names: The values of the field with the name.
  ///   - groups: Those of the field with the groups, each a list.
  func person(_ names: [String], _ groups: [String]) throws(Problem) -> Person? {
    // A proxy that adds its field to one of the client lets the client choose who it is.
    guard names.count == 1 else {
      throw Problem(
        .untrustedUser, at: .init(.header, userField),
        "is there \(names.count) times; the proxy must remove what clients send")
    }
    let name = names[0]
    // Nobody has signed in.
    if name.isEmpty { return nil }
    guard name.utf8.count <= Attribution.longestName, !PlainText.hasControls(name) else {
      throw Problem(
        .untrustedUser, at: .init(.header, userField),
        "must have at most \(Attribution.longestName) bytes, and no control characters")
    }
    guard groups.count <= 1 else {
      throw Problem(
        .untrustedUser, at: .init(.header, groupsField),
        "is there \(groups.count) times; the proxy must remove what clients send")
    }
    let groups = groups.flatMap { $0.split(separator: ",").map { GroupScopes.trimmed($0) } }.filter { !$0.isEmpty }
    let scopes = scopes.scopes(of: groups)
    guard !scopes.isEmpty else {
      let shown = groups.isEmpty ? "no group" : groups.map { PlainText.escaped($0) }.joined(separator: ", ")
      throw Problem(
        .userNotAdmitted,
        detail:
          "\(PlainText.escaped(name)) has signed in, with \(shown), and groupScopes gives that no scope. Whoever runs the "
          + "service can add a group there.")
    }
    return Person(name: name, scopes: scopes)
  }
}

/// Which scopes the groups of people have, such as `ops=operate,read;admins=admin`; `*` is the group of everybody.
package struct GroupScopes: Sendable, Hashable {
  /// It as it was written.
  package private(set) var text = ""
  private var groups: [String: Set<APIScope>] = [:]

  private static let everybody = "*"

  /// No group has any.
  package init() {}

  /// Reads the text; nil if it is not of this form, names a group twice, or a scope that there is not.
  package init?(_ text: String) {
    self.text = text
    for part in text.split(separator: ";") where !Self.trimmed(part).isEmpty {
      // The name of a group may have an equals sign, as those of LDAP have.
      guard let end = part.lastIndex(of: "=") else { return nil }
      let name = Self.trimmed(part[..<end])
      let words = part[part.index(after: end)...].split(separator: ",", omittingEmptySubsequences: false).map(
        Self.trimmed)
      let scopes = words.compactMap { APIScope(rawValue: $0) }
      guard !name.isEmpty, scopes.count == words.count, groups.updateValue(Set(scopes), forKey: name) == nil else {
        return nil
      }
    }
  }

  var isEmpty: Bool { groups.isEmpty }

  /// All that these groups have together.
  func scopes(of names: [String]) -> Set<APIScope> {
    (names + [Self.everybody]).reduce(into: []) { $0.formUnion(groups[$1] ?? []) }
  }

  static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
  }
}
