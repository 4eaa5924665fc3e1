/// Why a store could not execute a request.
public struct StoreError: Error, Sendable, Hashable {
  /// What to do about it.
  public enum Kind: Sendable, Hashable {
    /// The disk is full.
    case full
    /// It may work later: a failed write, a busy database.
    case unavailable
    /// An fsync failed: nothing that was written since the last good fsync can be trusted, so this process must not
    /// write any more. The next process continues with the data that is on the disk.
    case syncFailed
    /// The data is damaged, or from a newer version: a person must look at it.
    case corrupt
    /// The store is in use by another process.
    case inUse
    /// Another process may have taken over this instance's part of the store.
    case leaseLost
    /// Another instance has just accepted calls under some of the same idempotency keys, see ``StoreError/taken``.
    case keyTaken
    /// Another instance has just stored some of the same calls, see ``StoreError/stored``.
    case callStored
    /// The connection was lost during a change, and the store does not answer: the change may have been made or not.
    case outcomeUnknown
  }

  /// What to do about it.
  public var kind: Kind
  /// What was attempted, on which input, what went wrong, and what to do.
  public var message: String
  /// The call that the message is about, if it is about one.
  public var call: CallID?
  /// The only call that cannot be read, if that is the whole problem. The rest of the store is not affected.
  public var damaged: Damage?
  /// What can be read of that call.
  public var remains: CallRemains?
  /// The keys of the commit under which other instances have just accepted calls, if that is the whole problem.
  public var taken: [TakenKey]
  /// The calls of the commit that other instances have stored first, if that is the whole problem.
  public var stored: StoredFirst

  /// A call that cannot be read.
  public struct Damage: Sendable, Hashable {
    public var id: CallID
    /// Whether it has ended, so that no engine has it in memory.
    public var hasEnded: Bool

    /// Creates a damage.
    public init(id: CallID, hasEnded: Bool) {
      self.id = id
      self.hasEnded = hasEnded
    }
  }

  /// Creates an error.
  public init(
    kind: Kind, message: String, call: CallID? = nil, damaged: Damage? = nil, taken: [TakenKey] = [],
    stored: StoredFirst = StoredFirst()
  ) {
    self.kind = kind
    self.message = message
    self.call = call ?? damaged?.id
    self.damaged = damaged
    self.taken = taken
    self.stored = stored
  }

  /// Whether other instances were first with something, and that is the only problem: the store works.
  public var isContention: Bool { !taken.isEmpty || !stored.isEmpty }

  /// The answer to whoever wants something of a call that cannot be read; nil if that is not the whole problem.
  public var callDamaged: Problem? {
    guard kind == .corrupt, let call else { return nil }
    return .callDamaged(remains ?? CallRemains(id: call), message)
  }
}
