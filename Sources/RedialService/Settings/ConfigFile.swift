internal import Glibc
internal import RedialModel
internal import RedialJSON

/// The values of a config file: one JSON object of groups, of settings by their keys, or of both.
struct ConfigFile {
  /// A value and its position.
  struct Entry {
    /// The value as text.
    var text: String
    /// The line of the file in which it begins, from 1.
    var line: Int
    /// Its group; nil for a value under the key of its setting.
    var group: SettingGroup?
    /// Its name in the group.
    var member: String

    /// Its name in the file: `breaker.window` or `breakerWindow`.
    var name: String { group.map { "\($0.rawValue).\(member)" } ?? member }
  }

  /// The values by the keys of their settings.
  private(set) var entries: [String: Entry] = [:]
  private let path: String

  /// Reads a file.
  ///
  /// - Throws: If it cannot be read, is not such an object, contains an unknown setting, or sets one twice.
  init(_ path: String) throws(SettingsFault) {
    self.path = path
    guard let bytes = FileContents.read(path) else {
      throw SettingsFault("cannot read the config file \(path): \(String(cString: strerror(errno)))")
    }
    var found: [Entry] = []
    do throws(JSONError) {
      found = try bytes.withUnsafeBufferPointer { buffer throws(JSONError) in try Self.parse(buffer) }
    } catch {
      throw SettingsFault("\(path): at byte \(error.offset): \(error.reason)")
    }
    for entry in found {
      let key = try key(of: entry)
      if let other = entries.updateValue(entry, forKey: key) {
        let names =
          other.name == entry.name ? "\(entry.name) is" : "\(other.name) and \(entry.name) are the same setting,"
        throw SettingsFault(
          "\(path): \(names) given twice, in lines \(other.line) and \(entry.line); leave one of them out")
      }
    }
  }

  /// The key of the entry's setting.
  private func key(of entry: Entry) throws(SettingsFault) -> String {
    if let setting = entry.group?.setting(entry.member) { return setting.key }
    let meant = Setting.all.first { $0.key == entry.member }
    if entry.group == nil {
      if let meant { return meant.key }
      let hint = SettingGroup(rawValue: entry.member) == nil ? "" : " but a group of settings, whose value is an object"
      throw SettingsFault("\(path): \(entry.name) is not a setting\(hint); `redial serve --help-all` lists them")
    }
    let hint = meant.map { "did you mean \($0.path)?" } ?? "`redial serve --help-all` lists them"
    throw SettingsFault("\(path): \(entry.name) is not a setting; \(hint)")
  }

  private static func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) -> [Entry] {
    var reader = JSONReader(bytes)
    var entries: [Entry] = []
    try reader.beginObject()
    while let key = try reader.nextKey() {
      guard try reader.peek() == .object, key != "targetDefaults" else {
        entries.append(try entry(key, in: nil, &reader, bytes))
        continue
      }
      guard let group = SettingGroup(rawValue: key) else {
        throw JSONError(
          offset: reader.offset, reason: "\(key) is an object, and there is no group of settings of that name")
      }
      try reader.beginObject()
      while let name = try reader.nextKey() { entries.append(try entry(name, in: group, &reader, bytes)) }
    }
    try reader.finish()
    return entries
  }

  private static func entry(
    _ member: String, in group: SettingGroup?, _ reader: inout JSONReader, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(JSONError) -> Entry {
    let key = group?.setting(member)?.key ?? member
    let kind = try reader.peek()
    let line = 1 + bytes[..<reader.offset].count { $0 == UInt8(ascii: "\n") }
    switch kind {
    case .string: return Entry(text: try reader.string(), line: line, group: group, member: member)
    // The setting itself reads JSON.
    case .array where key == "targetRules", .object where key == "targetDefaults", .number, .bool:
      let text = String(decoding: reader.raw(try reader.skipValue()), as: UTF8.self)
      return Entry(text: text, line: line, group: group, member: member)
    default: throw JSONError(offset: reader.offset, reason: "\(member) must be a string or a number")
    }
  }
}
