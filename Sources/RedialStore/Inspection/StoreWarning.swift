internal import RedialText

/// Something about a store's database that does no harm yet, or a check that was not made.
package struct StoreWarning: Sendable, Hashable {
  /// What it is about.
  package enum Subject: String, Sendable, Hashable, CaseIterable {
    /// Nothing waits for a standby: a failover may lose accepted calls.
    case noStandby
    /// The database's pages have no checksums.
    case noPageChecksums
    /// A failover has lost commits.
    case lostCommits
    /// A transaction is open so long that dead rows cannot be removed.
    case oldSnapshot
    /// A table has far more dead rows than live ones.
    case deadRows
    /// The server does not remove dead rows by itself.
    case autovacuum
    /// The clocks of this machine and of the database differ.
    case clock
    /// Transaction numbers are running out.
    case wraparound
    /// Values are not encrypted, although there is a key for all of them.
    case readable
    /// The store is of an older version.
    case older
    /// A check took too long and was ended.
    case unchecked
  }

  /// What it is about.
  package var subject: Subject
  /// What was found and what to do, as one sentence.
  package var text: String

  /// Creates a warning.
  package init(_ subject: Subject, _ text: String) {
    (self.subject, self.text) = (subject, text)
  }
}

extension StoreWarning {
  package init(_ loss: LostCommits) {
    self.init(
      .lostCommits,
      "at \(TimestampText.format(loss.at)) the database had lost \(loss.count) commits that an instance knew: \(loss.made) were "
        + "made, and it had \(loss.found). Calls, their ends, cancels, pauses and revocations of then may be missing; "
        + "docs/store.md says what to do")
  }

  /// How much is stored as it was before there was a key; nil if that is nothing.
  package static func readable(calls: Int, attempts: Int, documents: Int) -> StoreWarning? {
    guard calls + attempts + documents > 0 else { return nil }
    return StoreWarning(
      .readable,
      "\(calls) calls, \(attempts) attempts and \(documents) documents are from before encryptionKeyFile was set, and are "
        + "not encrypted; redial rekey encrypts them")
  }

  /// How many secrets are as an earlier version stored them without a key; nil for none.
  package static func readable(secrets: Int) -> StoreWarning? {
    guard secrets > 0 else { return nil }
    return StoreWarning(
      .readable,
      "\(secrets) secrets are from an earlier version, and are not encrypted; set encryptionKeyFile to the same file for all "
        + "instances, and start them again")
  }
}
