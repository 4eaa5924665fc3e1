import RedialModel
import Testing

@testable import RedialEngine

@Suite("The record of a request is in the commit of what it changes")
struct RecordedChangeTests {
  private static let record = StoredDocument(.audit, id: "a", [1])

  private func isRecord(_ write: StoreWrite) -> Bool {
    if case .put(Self.record) = write { true } else { false }
  }

  /// Hears something, and returns the commits that follow, until nothing is asked of the store.
  private func commits(_ probe: inout EngineProbe, after event: EngineEvent) throws -> [[StoreWrite]] {
    var commits: [[StoreWrite]] = []
    probe.hear(event)
    while let request = probe.requests.first {
      probe.requests.removeFirst()
      switch request.body {
      case .commit(let writes, let then):
        commits.append(writes)
        (probe.written, probe.actions) = (probe.written + writes, probe.actions + then)
      case .fetch(let command): probe.hear(.fetched(command, probe.record(command.id)))
      case .findKey(let submission, _): probe.hear(.foundKey(submission, nil))
      default: break
      }
    }
    return commits
  }

  private func command(
    _ probe: inout EngineProbe, _ kind: CallCommand.Kind, _ id: CallID
  ) throws -> [[StoreWrite]] {
    var command = CallCommand(kind, id, reply: probe.token(for: CallCommand.Reply.self))
    command.audit = Self.record
    return try commits(&probe, after: .command(command))
  }

  @Test(
    "a command of an operator",
    arguments: [TargetCommand.Kind.pause, .trip, .reset, .release, .configure(TargetOverrides())])
  func target(kind: TargetCommand.Kind) throws {
    var probe = EngineProbe()
    probe.submit()
    let reply = probe.token(for: TargetCommand.Reply.self)
    let command = TargetCommand(kind, EngineProbe.target, reply: reply, audit: Self.record)
    let made = try commits(&probe, after: .targetCommand(command))
    #expect(made.count { $0.contains(where: isRecord) } == 1)
    let change = made.first {
      $0.contains { if case .target = $0 { true } else { false } }
    }
    #expect(change?.contains(where: isRecord) ?? true)
  }

  @Test("a command on a call that waits, that has ended, or that is in the store")
  func calls() throws {
    var probe = EngineProbe()
    let (near, far) = (probe.submit(after: .seconds(3)), probe.submit(after: .seconds(60)))
    let ended = probe.submit()
    probe.end(ended, status: 404)
    let commands = [(CallCommand.Kind.retry, near), (.cancel, far), (.retry, ended), (.erase, far), (.purge, far)]
    for (kind, id) in commands {
      let change = try #require(try command(&probe, kind, id).first { !$0.isEmpty })
      #expect(change.contains(where: isRecord) && change.count > 1, "\(kind)")
    }
    // One that runs ends later.
    let first = try #require(try command(&probe, .cancel, ended).first { !$0.isEmpty })
    #expect(first.contains(where: isRecord))
  }

  @Test("what is refused or changes nothing leaves none")
  func refused() throws {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(60))
    #expect(try command(&probe, .purge, id).allSatisfy { !$0.contains(where: isRecord) })
    _ = try command(&probe, .cancel, id)
    #expect(try command(&probe, .cancel, id).allSatisfy { !$0.contains(where: isRecord) })
    #expect(try command(&probe, .retry, CallID(rawValue: 77)).allSatisfy { !$0.contains(where: isRecord) })
    probe.hear(.drain)
    let reply = probe.token(for: TargetCommand.Reply.self)
    let late = TargetCommand(.pause, EngineProbe.target, reply: reply, audit: Self.record)
    #expect(try commits(&probe, after: .targetCommand(late)).allSatisfy { !$0.contains(where: isRecord) })
  }

  @Test("a call that is made from another, with a key or without", arguments: [false, true])
  func replay(isKeyed: Bool) throws {
    var probe = EngineProbe()
    var descriptor = EngineProbe.descriptor()
    descriptor.audit = Self.record
    if isKeyed { descriptor.key = IdempotencyKey("k", fingerprint: [1]) }
    let reply = probe.token(for: SubmissionReply.self)
    let made = try commits(&probe, after: .submit(descriptor, reply))
    let change = try #require(made.first { $0.contains { if case .insert = $0 { true } else { false } } })
    #expect(change.contains(where: isRecord))
  }
}
