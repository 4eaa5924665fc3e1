internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// Operators, who pause targets, force their breakers, set their limits, and mostly undo it.
extension World {
  func planControls(for length: Duration) {
    guard random.chance(0.7) else { return }
    for _ in 0..<random.pick(1...8) {
      let time = World.start + .microseconds(Int64(random.unitInterval() * length.inSeconds * 1e6))
      var key = random.pick(targets).key
      if random.chance(0.2) {
        key = TargetKey("webhook:" + key.bare, in: key.namespace)
      }
      let later = time + random.duration(0...40_000)
      switch random.pick(0...9) {
      case 0...4: agenda.add(.control(.configure(Workload.overrides(&random)), key), at: time)
      case 5, 6:
        agenda.add(.control(.pause, key), at: time)
        if random.chance(0.8) { agenda.add(.control(.resume, key), at: later) }
      case 7:
        agenda.add(.control(.trip, key), at: time)
        if random.chance(0.8) { agenda.add(.control(random.chance(0.5) ? .reset : .release, key), at: later) }
      case 8: agenda.add(.control(.reset, key), at: time)
      default: agenda.add(.control(.release, key), at: time)
      }
    }
  }

  func control(_ kind: TargetCommand.Kind, _ target: TargetKey) {
    guard let instance = isHealed ? owner(of: target) : anyInstance() else { return }
    var control = TargetCommand(kind, target, reply: ReplyToken(rawValue: 0))
    control.reply = token(.control(control), of: instance)
    instance.waiting[control.reply.rawValue] = .control(control)
    log(instance, "operator \(control.reply.rawValue) wants \(kind) of \(target)")
    post(.targetCommand(control), to: instance)
  }

  /// Undoes all changes of operators, so that every call can end.
  func tidy() {
    guard isShared || instances[0].isUp else { return agenda.add(.tidy, at: now + .seconds(5)) }
    for (target, record) in store.targets.sorted(by: { $0.key < $1.key }) where record.controls != TargetControls() {
      control(.resume, target)
      control(.configure(TargetOverrides()), target)
      control(.release, target)
    }
    // An operator may have been refused, because the target was moving to another instance.
    if isShared, store.targets.values.contains(where: { $0.controls != TargetControls() }) {
      agenda.add(.tidy, at: now + .seconds(5))
    }
  }
}
