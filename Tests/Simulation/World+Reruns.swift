internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// Submissions under the key of a call that has ended run it again, as the service does it: the instance that was asked reads
/// the call, and the engine of its owner runs it again if it is still as it was read.
extension World {
  func planResubmissions(for length: Duration) {
    guard reruns else { return }
    for _ in 0..<rerunRandom.pick(10...60) {
      agenda.add(.resubmit, at: World.start + length * rerunRandom.unitInterval())
    }
  }

  /// Somebody submits again what has been submitted before, some of them more than once.
  func resubmit() {
    guard !keyed.isEmpty, let instance = anyInstance() else { return }
    submit(rerunRandom.pick(keyed), times: rerunRandom.chance(0.5) ? 3 : 1, to: instance)
  }

  /// A submission was found to be a repetition.
  func repeats(_ id: CallID, at instance: Instance) {
    guard reruns, !isHealed else { return }
    agenda.add(.readRepeated(id, instance.number, life: instance.life), at: now + travelTime())
  }

  /// Some reads and ways are slow, so that much may happen to the call meanwhile.
  private func travelTime() -> Duration { rerunRandom.duration(0...(rerunRandom.chance(0.3) ? 20_000 : 5)) }

  func readRepeated(_ id: CallID, _ instance: Instance) {
    guard instance.knows(store), let row = store.rows[id], let ended = row.record.progress.finishedAt,
      row.record.whenRepeated({ row.attempts }) == .rerun
    else { return }
    invariants.require(
      row.record.spec.idempotent || !instances.contains { $0.network.executed[id] != nil },
      "\(id) was executed, must not be twice, and is run again")
    let attempts = row.record.progress.attempts
    var command = CallCommand(
      .retry, id, in: row.record.spec.namespace, reply: ReplyToken(rawValue: 0),
      attribution: Attribution(reason: "\(ended.text) \(attempts)"),
      condition: .unchanged(endedAt: ended, attempts: attempts))
    command.reply = token(.operation(command), of: instance)
    instance.waiting[command.reply.rawValue] = .operation(command)
    agenda.add(.rerun(command, instance.number, life: instance.life), at: now + travelTime())
  }

  func rerun(_ command: CallCommand, at instance: Instance) {
    invariants.asked(command)
    log(instance, "client \(command.reply.rawValue) runs \(command.id) again")
    post(.command(command), to: instance)
  }

  /// The call is run by another instance, which is asked, or by none.
  func rerunElsewhere(_ command: CallCommand, _ target: TargetKey) {
    guard command.condition != nil, !isHealed, let owner = owner(of: target) else { return }
    var command = command
    command.reply = token(.operation(command), of: owner)
    owner.waiting[command.reply.rawValue] = .operation(command)
    agenda.add(.rerun(command, owner.number, life: owner.life), at: now + travelTime())
  }
}
