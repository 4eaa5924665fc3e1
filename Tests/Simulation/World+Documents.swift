internal import RedialCore
@testable internal import RedialEngine
internal import RedialJSON
internal import RedialModel

/// The documents about what targets hide, which all instances read some time after they have changed.
extension World {
  /// Without a draw, so that earlier seeds keep their runs.
  func tellOfDocuments(since before: SimulatedStore) {
    guard before.privacies != store.privacies else { return }
    for instance in instances where instance.isUp {
      let delay = Duration.milliseconds(30 + 70 * instance.number)
      agenda.add(.documents(instance.number, life: instance.life), at: now + delay)
    }
  }

  /// An instance reads the documents; its engine gets them with what comes next.
  func readDocuments(_ instance: Instance) {
    if isShared { instance.inbox.append(.privacies(store.privacies)) }
  }

  /// In the end all instances know what targets hide.
  func checkDocuments() {
    guard isShared, isOver else { return }
    for instance in instances where instance.isUp {
      invariants.require(
        instance.engine.privacies == store.privacies,
        "instance \(instance.number) believes that targets hide \(instance.engine.privacies), and it is \(store.privacies)"
      )
    }
  }
}

extension Invariants {
  /// A call that is stored for another instance has what its target hides, as far as the engine could know.
  func checkPrivacy(_ requests: [StoreRequest], _ before: [TargetKey: TargetOverrides], _ engine: Engine) {
    guard isShared, !before.isEmpty, before == engine.privacies else { return }
    for case .commit(let writes, _) in requests.map(\.body) {
      for case .insert(let record) in writes
      where record.kind == .call && engine.roster.place(of: record.spec.target) == nil {
        let hidden = before[record.spec.target]?.redact ?? []
        require(
          hidden.allSatisfy(record.spec.redact.contains),
          "\(record.id) was stored for another instance and shows what \(record.spec.target) hides")
      }
    }
  }

  /// The documents say what the records say.
  func checkDocuments(_ writes: [StoreWrite], _ store: SimulatedStore) {
    guard isShared else { return }
    for case .target(let key, _) in writes {
      let own = store.targets[key]?.controls.overrides.privacy
      let hidden = (own?.redact ?? []).map(\.text)
      require(store.privacies[key] == own, "\(key) hides \(hidden), and its document says otherwise")
    }
  }
}
