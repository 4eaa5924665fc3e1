internal import RedialCore
internal import RedialModel

/// What targets hide of their calls by their own settings.
///
/// The owner of a target knows that from its record. Others accept calls for the target, too, and store them in the form in which
/// they stay. So the owner writes a document in the same commit as the record, which all instances read.
extension Engine {
  /// What a target of another instance hides. A target of this one that is not known has no settings of its own.
  func privacyElsewhere(of key: TargetKey) -> TargetOverrides? {
    privacies.isEmpty || owns(key) ? nil : privacies[key]
  }

  /// Has the documents say what a target hides, after a change of its settings. The engine reads it when it is stored: it may
  /// lose its lease before.
  mutating func tell(_ privacy: TargetOverrides?, of key: TargetKey, before: TargetOverrides?) {
    guard desk.leases.settings != nil, privacy != before else { return }
    writes.append(
      privacy.map { .put(StoredDocument(privacy: $0, of: key)) } ?? .remove(.targetPrivacy, id: key.text))
  }

  /// Has the documents say what the targets of these shards hide. The last owner may not have told: an earlier version, or another
  /// kind of store.
  mutating func tellPrivacies(in shards: ShardSet) {
    var found: [TargetKey: TargetOverrides] = [:]
    for place in roster.places(in: shards) {
      let target = roster.targets[place]
      found[target.key] = target.controls.overrides.privacy
    }
    let told = privacies.filter { shards.contains(target: $0.key) }
    for key in Set(found.keys).union(told.keys).sorted() { tell(found[key], of: key, before: told[key]) }
  }
}
