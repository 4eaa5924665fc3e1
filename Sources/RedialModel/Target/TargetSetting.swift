internal import RedialCore
internal import RedialJSON

/// A setting of targets, or an object with some of them. Whatever is done with all settings goes through
/// ``TargetOverrides/members``, so one that stands there is read, checked, stored, patched, shown, applied and described.
struct TargetSetting: Sendable {
  let name: String
  let shape: SettingShape
  /// What builds from before the first release have called it, if that was something else.
  private let former: String?
  private let isSet: @Sendable (TargetOverrides) -> Bool
  private let remove: @Sendable (inout TargetOverrides) -> Void
  private let read: @Sendable (inout TargetOverrides, String, inout DescriptorReader) throws(JSONError) -> Void
  private let write: @Sendable (TargetOverrides, Bool, inout JSONWriter) -> Void
  /// Sets it to what settings have.
  let take: @Sendable (inout TargetOverrides, TargetSettings) -> Void
  /// Changes settings, if it is set.
  let apply: @Sendable (TargetOverrides, inout TargetSettings) -> Void

  /// A setting.
  ///
  /// - Parameters:
  ///   - get: What settings have; nil for what they have without it.
  ///   - set: Changes settings.
  init<Value>(
    _ name: String, _ form: SettingForm<Value>, _ own: any WritableKeyPath<TargetOverrides, Value?> & Sendable,
    former: String? = nil, get: @escaping @Sendable (TargetSettings) -> Value?,
    set: @escaping @Sendable (inout TargetSettings, Value) -> Void
  ) {
    (self.name, self.former, shape) = (name, former, form.shape)
    isSet = { $0[keyPath: own] != nil }
    remove = { $0[keyPath: own] = nil }
    read = { overrides, pointer, reader throws(JSONError) in
      overrides[keyPath: own] = try form.read(overrides[keyPath: own], pointer, &reader)
    }
    write = { overrides, hidingSecrets, writer in
      if let value = overrides[keyPath: own] { form.write(value, hidingSecrets, &writer) }
    }
    take = { $0[keyPath: own] = get($1) }
    apply = { overrides, settings in
      if let value = overrides[keyPath: own] { set(&settings, value) }
    }
  }

  /// A setting that settings have as it is.
  init<Value>(
    _ name: String, _ form: SettingForm<Value>, _ own: any WritableKeyPath<TargetOverrides, Value?> & Sendable,
    _ path: any WritableKeyPath<TargetSettings, Value> & Sendable, former: String? = nil
  ) {
    self.init(
      name, form, own, former: former, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// An object with some settings.
  init(_ name: String, _ members: [TargetSetting]) {
    (self.name, former, shape) = (name, nil, .object(members))
    isSet = { overrides in members.contains { $0.isSet(overrides) } }
    remove = { overrides in for member in members { member.remove(&overrides) } }
    read = { overrides, pointer, reader throws(JSONError) in
      guard try reader.expect(.object, pointer, "must be an object") else {
        for member in members { member.remove(&overrides) }
        return
      }
      try Self.read(members, of: name, into: &overrides, at: pointer, from: &reader)
    }
    write = { Self.write(members, of: $0, hidingSecrets: $1, to: &$2) }
    take = { overrides, settings in for member in members { member.take(&overrides, settings) } }
    apply = { overrides, settings in for member in members { member.apply(overrides, &settings) } }
  }

  /// Reads an object of these members.
  ///
  /// - Parameter noun: What has them, for faults.
  static func read(
    _ known: [TargetSetting], of noun: String, into overrides: inout TargetOverrides, at pointer: String,
    from reader: inout DescriptorReader
  ) throws(JSONError) {
    try reader.json.beginObject()
    let formers = reader.limits.isAccepted ? known.compactMap(\.former) : []
    let nulls = known.filter {
      if case .whole(_, true) = $0.shape { true } else if case .number(_, true) = $0.shape { true } else { false }
    }
    var members = Members(known.map(\.name) + formers, withNull: Set(nulls.map(\.name)))
    while let key = try reader.nextMember(&members, of: noun, at: pointer) {
      guard let member = known.first(where: { $0.name == key || $0.former == key }) else { continue }
      try member.read(&overrides, "\(pointer)/\(key)", &reader)
    }
  }

  /// Writes an object of those that are set.
  static func write(
    _ members: [TargetSetting], of overrides: TargetOverrides, hidingSecrets: Bool, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    for member in members where member.isSet(overrides) {
      writer.key(member.name)
      member.write(overrides, hidingSecrets, &writer)
    }
    writer.endObject()
  }
}

extension TargetOverrides {
  /// All settings of targets, in the order in which they are shown.
  static let members: [TargetSetting] = [
    TargetSetting(
      "breaker",
      [
        TargetSetting(
          "consecutiveFailures", .whole(0...1_000_000), \.consecutiveFailures, \.breaker.consecutiveFailures),
        TargetSetting("significance", .share, \.significance, \.breaker.significance),
        TargetSetting("failureTime", .duration(.zero...longest), \.failureTime, \.breaker.failureTime),
        // The breaker expresses "never" as a rate that cannot be reached.
        TargetSetting(
          "failureRate", .share, \.failureRate, get: { $0.breaker.failureRate > 1 ? 0 : $0.breaker.failureRate },
          set: { $0.breaker.failureRate = $1 == 0 ? 2 : $1 }),
        TargetSetting(
          "window", .duration(.milliseconds(10)...longest), \.window,
          get: { if case .time(let length) = $0.breaker.window { length } else { nil } },
          set: { $0.breaker.window = .time($1) }),
        TargetSetting(
          "minCalls", .whole(1...1_000_000), \.minimumCalls, \.breaker.minimumCalls, former: "minimumCalls"),
        TargetSetting("openInterval", .duration(shortest...longest), \.openInterval, \.breaker.openInterval),
        TargetSetting(
          "maxOpenInterval", .duration(shortest...longest), \.maxOpenInterval, \.breaker.maximumOpenInterval),
        TargetSetting("probes", .whole(1...CircuitBreakerSettings.mostProbes), \.probes, \.breaker.halfOpenProbes),
      ]),
    TargetSetting("maxInFlight", .whole(1...100_000), \.maxInFlight, \.maxInFlight),
    TargetSetting(
      "rate",
      [
        TargetSetting("perSecond", .limit(0.001...1_000_000), \.ratePerSecond, \.ratePerSecond),
        TargetSetting("burst", .whole(1...1_000_000), \.rateBurst, \.rateBurst),
      ]),
    TargetSetting(
      "retryBudget",
      [
        TargetSetting("share", .share, \.retryShare, \.retryShare),
        TargetSetting("minPerSecond", .limit(1...1_000_000), \.retriesPerSecond, \.retriesPerSecond),
      ]),
    TargetSetting("pace", .pace, \.pace, \.pace),
    TargetSetting("newCallShare", .newCallShare, \.newCallShare, \.newCallShare),
    TargetSetting("slowStart", .duration(.zero...longest), \.slowStart, \.slowStart),
    TargetSetting(
      "attemptTimeout", .duration(shortest...TargetSettings.longestAttempt), \.attemptTimeout, \.attemptTimeout),
    TargetSetting(
      "sensitive", .flag, \.isSensitive, get: { $0.isSensitive ? true : nil }, set: { $0.isSensitive = $1 }),
    TargetSetting("redact", .pointers, \.redact, get: { $0.redact.isEmpty ? nil : $0.redact }, set: { $0.redact = $1 }),
    TargetSetting("tls", .tls, \.tls, get: { $0.tls }, set: { $0.tls = $1 }),
    TargetSetting("credential", .name, \.credential, get: { $0.credential }, set: { $0.credential = $1 }),
    TargetSetting("sign", .signing, \.signing, get: { $0.signing }, set: { $0.signing = $1 }),
  ]

  private static let longest = Duration.seconds(86_400)
  private static let shortest = Duration.milliseconds(1)
}
