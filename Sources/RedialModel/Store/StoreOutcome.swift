/// What a store reports of the works that were submitted to it. All but the last two are about the oldest work without
/// an outcome.
public enum StoreOutcome: Sendable {
  /// It is done, and what it has changed is on disk.
  case made(StoreAnswer)
  /// It is certain that nothing of it was done, nor will be. With `keyTaken`, other instances were first with some of
  /// the keys, with `callStored` with some of the calls; with `leaseLost`, other instances may own everything that the
  /// session had, or the store has lost changes that it had reported as made to the session.
  case notMade(StoreError)
  /// Nothing of it was done, and it may succeed if it is submitted again; if it is not, this is why.
  case repeatable(StoreError)
  /// The store was lost. It may have done the works without an outcome, or not, and nobody knows yet. None of them gets
  /// an outcome any more.
  case lost(StoreError)
  /// The store is there again. Of the works without an outcome, it has done the changes up to this place of the chain,
  /// and no others. All of them are to be submitted again.
  case found(last: Int64)
}

/// How a work is submitted: it may have been submitted before.
public struct StoreTrial: Sendable, Hashable {
  /// What has become of a work so far.
  public enum Kind: Sendable {
    /// It is submitted for the first time.
    case first
    /// Nothing of it was made before.
    case again
    /// It was made, and its answer was lost: only the answer is wanted.
    case answer
  }

  /// What has become of the work so far.
  public var kind: Kind
  /// How many times the store was lost, as far as who submits it has heard: ``StoreOutcome/lost(_:)``. A store passes
  /// over works from before the last one, because they are submitted again.
  public var losses: Int

  /// Creates a trial.
  public init(_ kind: Kind = .first, losses: Int = 0) {
    (self.kind, self.losses) = (kind, losses)
  }
}
