internal import RedialModel
internal import RedialStore
internal import RedialText

/// The settings in force, and the source of each value: a flag, else an environment variable, else the config file,
/// else the default.
package struct LoadedSettings: Sendable {
  package private(set) var settings = ServiceSettings()
  /// The source of each key that was set.
  package private(set) var origins: [String: String] = [:]

  /// Loads settings.
  ///
  /// - Parameters:
  ///   - flags: Values by key, from the command line.
  ///   - environment: The environment's variables.
  ///   - file: The path of a config file; see ``ConfigFile``.
  /// - Throws: What is wrong with the first wrong value, file or variable.
  package static func load(
    flags: [String: String], environment: [String: String], file: String?
  ) throws(SettingsFault) -> LoadedSettings {
    var loaded = LoadedSettings()
    let inFile = try file.map { path throws(SettingsFault) in try ConfigFile(path).entries } ?? [:]
    try checkVariables(environment)
    loaded.settings.testClock = environment[ClockShift.variable]
    for setting in Setting.all {
      if let value = flags[setting.key] {
        try loaded.set(setting, value, origin: "flag \(setting.flag)")
      } else if let value = environment[setting.variable] {
        try loaded.set(setting, value, origin: "environment \(setting.variable)")
      } else if let name = setting.sharedVariable, let value = environment[name], !value.isEmpty {
        try loaded.set(setting, value, origin: "environment \(name)")
      } else if let value = inFile[setting.key] {
        try loaded.set(setting, value.text, origin: "file \(file ?? "")", line: value.line)
      }
    }
    try loaded.setConstants(environment[Setting.constantsVariable] ?? "")
    let retention = loaded.settings.retention
    if let time = retention.payloadTime, time > retention.time {
      throw SettingsFault(
        "payloadRetentionTime: \(DurationText.format(time)) is longer than retentionTime, "
          + "\(DurationText.format(retention.time)), after which the whole call is removed; make it shorter, or leave it out"
      )
    }
    return loaded
  }

  /// Sets constants, for tests.
  private mutating func setConstants(_ text: String) throws(SettingsFault) {
    for part in text.split(separator: ",") {
      let (key, value) = (part.prefix { $0 != "=" }, part.drop { $0 != "=" }.dropFirst())
      guard let constant = Setting.constants.first(where: { $0.key == key }) else {
        throw SettingsFault("\(Setting.constantsVariable): \(key) is not a constant that tests may change")
      }
      try set(constant, String(value), origin: Setting.constantsVariable)
    }
  }

  /// Variables that Redial reads besides its settings.
  package static let otherVariables: Set<String> = [
    "REDIAL_CONFIG", "REDIAL_SERVER", "REDIAL_API_KEY", "REDIAL_NAMESPACE", ClockShift.variable,
    Setting.constantsVariable,
  ]

  /// One line per setting, in the order of the groups: its position in the config file, its value and its source.
  package var description: String {
    SettingGroup.allCases.flatMap(\.settings).map { setting in
      let value = setting.read(settings)
      let shown = setting.isSecret && !value.isEmpty ? "(hidden)" : setting.displayed(value)
      return "\(setting.path) = \(shown)  # \(origins[setting.key] ?? "default")\n"
    }.joined()
  }

  /// - Parameter line: The line of the file in which the value begins; 1 for other sources.
  private mutating func set(
    _ setting: Setting, _ value: String, origin: String, line: Int = 1
  ) throws(SettingsFault) {
    guard setting.assign(&settings, value) else {
      if let fault = setting.fault(value) {
        throw SettingsFault("\(setting.key) (\(origin), line \(line + fault.line - 1)): \(fault.message)")
      }
      let shown = setting.isSecret ? "the value" : "\"\(setting.displayed(value))\""
      let expected = setting.requirement ?? setting.form
      throw SettingsFault("\(setting.key): \(shown) (\(origin)) is not valid; expected \(expected)")
    }
    origins[setting.key] = origin
  }

  /// A mistyped variable would silently leave a default in force.
  private static func checkVariables(_ environment: [String: String]) throws(SettingsFault) {
    let known = Set(Setting.all.map(\.variable)).union(otherVariables)
    for (name, value) in environment.sorted(by: { $0.key < $1.key })
    where name.hasPrefix("REDIAL_") && !known.contains(name) && !ServiceLink.isOne(name, value) {
      let bare = name.filter { $0 != "_" }
      let meant = known.first { $0.filter { $0 != "_" } == bare }.map { "; did you mean \($0)?" } ?? ""
      throw SettingsFault(
        "environment: \(name) is not a variable of Redial\(meant.isEmpty ? "; " : meant + " ")"
          + "`redial serve --help-all` lists them")
    }
  }
}
