@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import RedialJSON
import Testing

@Suite("What targets hide of calls that another instance accepts")
struct PrivacyTests: LeaseScene {
  private static let target = EngineProbe.target

  private func overrides(sensitive: Bool? = nil, redact: [String]? = nil) -> TargetOverrides {
    var overrides = TargetOverrides()
    overrides.isSensitive = sensitive
    overrides.redact = redact?.compactMap { JSONPointer($0) }
    return overrides
  }

  private func document(_ overrides: TargetOverrides) -> StoredDocument {
    StoredDocument(privacy: overrides, of: Self.target)
  }

  /// The changes of documents: what is put, and nil for what is removed.
  private func changes(_ probe: EngineProbe) -> [StoredDocument?] {
    probe.written.compactMap {
      switch $0 {
      case .put(let document): .some(document)
      case .remove(.targetPrivacy, Self.target.text): .some(nil)
      default: nil
      }
    }
  }

  /// A target as its last owner has left it.
  private func left(_ overrides: TargetOverrides) -> RecoveredState {
    var record = TargetRecord()
    record.controls.overrides = overrides
    return RecoveredState(targets: [(Self.target, record)], namespaces: [(.default, 0)])
  }

  // MARK: The owner

  @Test("the owner writes what a target hides in the commit of its record, without its other settings")
  func tells() throws {
    var probe = member()
    var all = overrides(sensitive: true, redact: ["/a"])
    all.maxInFlight = 3
    all.credential = "shop"
    _ = probe.control(.configure(all))
    let told = document(overrides(sensitive: true, redact: ["/a"]))
    #expect(changes(probe) == [told])
    let record = try #require(probe.written.firstIndex { if case .target = $0 { true } else { false } })
    guard case .put = probe.written[record + 1] else {
      Issue.record("it is another commit, or another order")
      return
    }
    #expect(TargetOverrides(privacy: told) == overrides(sensitive: true, redact: ["/a"]))
    // Nothing of that changes.
    all.maxInFlight = 4
    _ = probe.control(.configure(all))
    _ = probe.control(.pause)
    #expect(changes(probe) == [told])
    _ = probe.control(.configure(overrides(sensitive: false)))
    _ = probe.control(.configure(TargetOverrides()))
    #expect(changes(probe) == [told, document(overrides(sensitive: false)), nil])
  }

  @Test("an engine that is alone writes no document")
  func alone() {
    var probe = EngineProbe()
    _ = probe.control(.configure(overrides(sensitive: true)))
    #expect(changes(probe).isEmpty)
  }

  @Test("a new owner writes what the last one has not, and removes what is not so")
  func takesOver() {
    let told = overrides(sensitive: true)
    var probe = asking()
    probe.grant(.all, left(told))
    #expect(changes(probe.committed()) == [document(told)])
    probe = asking()
    probe.hear(.privacies([Self.target: told]))
    probe.grant(.all, left(told))
    #expect(changes(probe.committed()).isEmpty)
    probe = asking()
    probe.hear(.privacies([Self.target: told]))
    probe.grant(everythingElse)
    #expect(changes(probe.committed()).isEmpty, "it is of somebody else")
    probe.advance(.seconds(1))
    probe.grant(shard())
    #expect(changes(probe.committed()) == [nil])
  }

  @Test("what was not written is not believed")
  func loses() {
    var probe = member()
    probe.hear(.privacies([Self.target: overrides(sensitive: true)]))
    let command = TargetCommand(.configure(TargetOverrides()), Self.target, reply: probe.token())
    probe.hear(.targetCommand(command))
    probe.fence()
    #expect(probe.hasLostLease && probe.engine.privacies == [Self.target: overrides(sensitive: true)])
  }

  // MARK: Others

  @Test("a call for a target of somebody else has what that hides, as its owner would say")
  func accepts() throws {
    var settings = Self.settings
    settings.targetRules = [TargetRule(match: "*", settings: overrides(sensitive: true, redact: ["/rule"]))]
    let own: [(TargetOverrides?, sensitive: Bool, redact: [String])] = [
      (nil, true, ["/call", "/rule"]), (overrides(sensitive: false), false, ["/call", "/rule"]),
      (overrides(redact: ["/own"]), true, ["/call", "/own"]), (overrides(redact: []), true, ["/call"]),
    ]
    for (privacy, isSensitive, redact) in own {
      var elsewhere = EngineProbe(settings)
      elsewhere.hear(.privacies(privacy.map { [Self.target: $0] } ?? [:]))
      elsewhere.grant(everythingElse)
      var owner = EngineProbe(settings)
      owner.grant(.all, left(privacy ?? TargetOverrides()))
      for orderingKey in [nil, "a"] {
        let spec = CallSpec(
          url: "https://example.com/", method: "POST", target: Self.target, policy: .test, captureLimit: 100
        ) {
          $0.redact = ["/call"].compactMap { JSONPointer($0) }
          $0.orderingKey = orderingKey
        }
        let id = elsewhere.submit(spec)
        let stored = try #require(elsewhere.record(id)).spec
        #expect(stored.isSensitive == isSensitive && stored.redact == redact.compactMap { JSONPointer($0) })
        let ownID = owner.submit(spec)
        let known = try #require(owner.record(ownID)).spec
        #expect(known.isSensitive == stored.isSensitive && known.redact == stored.redact)
      }
    }
  }

  @Test("a target of this engine without settings hides nothing, whatever an old document says")
  func owns() throws {
    var probe = member()
    probe.hear(.privacies([Self.target: overrides(sensitive: true)]))
    let id = probe.submit()
    #expect(try #require(probe.record(id)).spec.isSensitive == false)
  }

  @Test("a document that cannot be read hides everything", arguments: ["", "{", "{\"redact\":1}", "{\"sensitive\":1}"])
  func damaged(_ text: String) {
    let damaged = StoredDocument(.targetPrivacy, id: Self.target.text, Array(text.utf8))
    #expect(TargetOverrides(privacy: damaged) == overrides(sensitive: true))
  }
}

extension EngineProbe {
  /// It after the store has done what it was asked for.
  fileprivate mutating func committed() -> EngineProbe {
    commit()
    return self
  }
}
