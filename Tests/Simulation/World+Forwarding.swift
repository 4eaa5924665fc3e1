internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Submissions that go to the owner of their target: some are lost, or their answers are, some come late or twice, and
/// some come to an instance that is not the owner any more.
extension World {
  struct Forwarded {
    let descriptor: CallDescriptor
    let reply: ReplyToken<SubmissionReply>
    let from: Int
    let life: Int
    /// Whether it is sent twice. The second may be accepted when the first was refused.
    let isTwice: Bool
  }

  private static let losses = 0.05

  private func travelTime() -> Duration { forwardRandom.duration(0.1...(forwardRandom.chance(0.05) ? 1500 : 10)) }

  func forward(_ descriptor: CallDescriptor, _ reply: ReplyToken<SubmissionReply>, by instance: Instance) {
    let call = Forwarded(
      descriptor: descriptor, reply: reply, from: instance.number, life: instance.life,
      isTwice: forwardRandom.chance(0.05))
    instance.forwarded[reply.rawValue] = descriptor
    agenda.add(.forwardEnds(call, nil, server: store.server), at: now + (settings.forwarding?.patience ?? .zero))
    for _ in 0..<(call.isTwice ? 2 : 1) where !forwardRandom.chance(Self.losses) {
      let owner = forwardRandom.chance(0.9) ? owner(of: descriptor.spec.target) : forwardRandom.pick(instances)
      guard let owner, owner !== instance, owner.isUp else { continue }
      agenda.add(.forwardArrives(call, owner.number, life: owner.life), at: now + travelTime())
    }
  }

  func forwardArrives(_ call: Forwarded, _ instance: Instance) {
    var descriptor = call.descriptor
    descriptor.identity?.isOfPeer = true
    post(.submit(descriptor, token(.forwarded(call), of: instance)), to: instance)
  }

  /// The owner has decided.
  func answer(_ call: Forwarded, _ reply: SubmissionReply, by owner: Instance) {
    if case .accepted(let record) = reply, owner.knows(store) { invariants.accepted(record, in: store) }
    guard !forwardRandom.chance(Self.losses), owner.knows(store) else { return }
    agenda.add(.forwardEnds(call, reply, server: store.server), at: now + travelTime())
  }

  /// The owner has answered, or the instance does not wait any more.
  ///
  /// - Parameter server: The server of the store at the time of the answer: another may have lost the call since.
  func forwardEnds(_ call: Forwarded, _ reply: SubmissionReply?, server: Int, _ instance: Instance) {
    let number = call.reply.rawValue
    guard instance.forwarded.removeValue(forKey: number) != nil else { return }
    switch reply {
    case .refused(let refusal)? where refusal.othersMayAccept:
      if call.isTwice { instance.inDoubt.insert(number) }
    case let reply?:
      guard server == store.server, !call.isTwice || !reply.isRefusal else {
        instance.waiting[number] = nil
        return
      }
      return answer(.submission(call.reply, reply), by: instance)
    case nil: instance.inDoubt.insert(number)
    }
    log(instance, "  stores what it has forwarded for client \(number)")
    post(.submit(call.descriptor, call.reply), to: instance)
  }
}

extension SubmissionReply {
  fileprivate var isRefusal: Bool { if case .refused = self { true } else { false } }
}
