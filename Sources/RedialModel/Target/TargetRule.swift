import RedialText

internal import RedialJSON

/// Settings for targets whose keys match a pattern, unless a target has its own.
public struct TargetRule: Sendable, Hashable {
  /// A pattern in which `*` stands for any characters, including none.
  ///
  /// A pattern with a scheme (`https://*.example.com:8443`) is compared with the whole key of a target. Any other is
  /// compared, ignoring case, with only the host if the key is a URL's origin, and with the whole key otherwise.
  public var match: String
  /// Their settings; omitted ones follow the service's settings.
  public var settings: TargetOverrides

  /// The maximum number of rules.
  public static let mostRules = 1000
  /// The maximum length of a pattern, in bytes.
  public static let longestPattern = 512

  /// Creates a rule.
  public init(match: String, settings: TargetOverrides) {
    self.match = match
    self.settings = settings
  }

  /// The first rule that matches a target, whatever its namespace.
  ///
  /// The certificate, the credential and the signature of a rule identify the operator. Other tenants could make Redial use
  /// them by calling such a target, and be taken for the operator there, so they apply only in the default namespace.
  public static func first(of rules: [TargetRule], for key: TargetKey) -> TargetRule? {
    if rules.isEmpty { return nil }
    let bare = key.bare
    guard var rule = rules.first(where: { $0.matches(bare) }) else { return nil }
    if !key.namespace.isDefault {
      rule.settings.tls?.certificate = nil
      rule.settings.tls?.key = nil
      (rule.settings.credential, rule.settings.signing) = (nil, nil)
    }
    return rule
  }

  /// Whether it matches a target.
  public func matches(_ key: String) -> Bool {
    if match == "*" { return true }
    guard !match.contains("://"), let host = Self.host(of: key) else {
      return Self.matches(Array(match.utf8), Array(key.utf8))
    }
    return Self.matches(Array(match.lowercased().utf8), Array(host.lowercased().utf8))
  }

  /// The host of a key that is a URL's origin.
  private static func host(of key: String) -> Substring? {
    guard key.hasPrefix("https://") || key.hasPrefix("http://"), let slashes = key.firstIndex(of: "/") else {
      return nil
    }
    let authority = key[slashes...].dropFirst(2)
    if authority.hasPrefix("[") { return authority.prefix { $0 != "]" } + "]" }
    return authority.prefix { $0 != ":" && $0 != "/" }
  }

  /// Whether a text matches a pattern; the time is at most the product of both lengths.
  private static func matches(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
    var (at, place) = (0, 0)
    // After the last star, and how many characters it stands for so far.
    var retry: (pattern: Int, text: Int)?
    while place < text.count {
      if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
        at += 1
        retry = (at, place)
      } else if at < pattern.count, pattern[at] == text[place] {
        at += 1
        place += 1
      } else if let last = retry {
        retry = (last.pattern, last.text + 1)
        (at, place) = (last.pattern, last.text + 1)
      } else {
        return false
      }
    }
    return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}

extension TargetRule {
  /// Why rules cannot be read.
  public struct Fault: Error, Sendable, Hashable {
    /// The line of the text, from 1.
    public var line: Int
    /// What is wrong, in which member, and what is expected.
    public var message: String
  }

  /// Reads rules: an array of objects with `match` and `settings`. The first rule that matches a target applies.
  ///
  /// - Throws: The fault of the first wrong rule.
  public static func read(_ text: String) throws(Fault) -> [TargetRule] {
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBufferPointer { buffer in
      Result { () throws(Fault) in try read(buffer) }
    }
    return try result.get()
  }

  private static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(Fault) -> [TargetRule] {
    func line(_ offset: Int) -> Int { 1 + bytes[..<min(offset, bytes.count)].count { $0 == UInt8(ascii: "\n") } }
    var rules: [TargetRule] = []
    var reader = JSONReader(bytes)
    do throws(JSONError) {
      try reader.beginArray()
      while try reader.nextElement() {
        let (start, place) = (reader.offset, rules.count)
        guard try reader.peek() == .object else {
          throw JSONError(offset: start, reason: "/\(place) must be an object with match and settings")
        }
        var match: String?
        var settings = TargetOverrides()
        try reader.beginObject()
        while let key = try reader.nextKey() {
          let at = reader.offset
          switch key {
          case "match":
            match = try reader.string()
            let length = match?.utf8.count ?? 0
            guard (1...longestPattern).contains(length) else {
              throw JSONError(offset: at, reason: "/\(place)/match must have 1 to \(longestPattern) bytes")
            }
          case "settings":
            let range = try reader.skipValue()
            do throws(Problem) {
              settings = try TargetOverrides.read(UnsafeBufferPointer(rebasing: bytes[range]))
            } catch {
              throw JSONError(
                offset: range.lowerBound,
                reason: error.errors.first.map { "/\(place)/settings\($0.place.name) \($0.detail)" } ?? error.detail)
            }
          default:
            throw JSONError(offset: at, reason: "/\(place)/\(key) is not a member of a rule; match and settings are")
          }
        }
        guard let match else { throw JSONError(offset: start, reason: "/\(place)/match is missing") }
        rules.append(TargetRule(match: match, settings: settings))
        guard rules.count <= mostRules else {
          throw JSONError(offset: start, reason: "has more than \(mostRules) rules")
        }
      }
      try reader.finish()
    } catch {
      throw Fault(line: line(error.offset), message: error.reason)
    }
    return rules
  }

  /// Rules as JSON, as ``read(_:)`` reads them, without secrets; empty if there are none.
  public static func text(_ rules: [TargetRule]) -> String {
    guard !rules.isEmpty else { return "" }
    var writer = JSONWriter()
    writer.beginArray()
    for rule in rules {
      writer.beginObject()
      writer.field("match", rule.match)
      writer.key("settings")
      rule.settings.write(hidingSecrets: true, to: &writer)
      writer.endObject()
    }
    writer.endArray()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension TargetOverrides {
  /// Reads what all targets follow: as for one target, but without TLS, credentials and signatures,
  /// which belong to origins.
  ///
  /// - Throws: The first fault.
  public static func readDefaults(_ text: String) throws(TargetRule.Fault) -> TargetOverrides {
    if text.isEmpty { return TargetOverrides() }
    let result = Array(text.utf8).withUnsafeBufferPointer { bytes in
      Result { () throws(Problem) in try read(bytes) }
    }
    switch result {
    case .success(let overrides):
      guard overrides.tls == nil else {
        throw TargetRule.Fault(line: 1, message: "/tls is set for one target, or by a rule")
      }
      guard overrides.credential == nil, overrides.signing == nil else {
        // It would prove to targets of all namespaces that the operator calls.
        throw TargetRule.Fault(line: 1, message: "/credential and /sign are set for one target, or by a rule")
      }
      return overrides
    case .failure(let problem):
      let fault = problem.errors.first.map { $0.pointer == "" ? $0.detail : $0.clause }
      throw TargetRule.Fault(line: 1, message: fault ?? problem.detail)
    }
  }
}
