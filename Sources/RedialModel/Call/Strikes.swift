/// What a process that crashed has left: the signal, and the call that it had in hand.
public struct CrashRecord: Sendable, Hashable {
  public var signal: Int32
  /// The call whose connection the thread was reading or writing that crashed; nil if that was none, or several.
  public var call: CallID?

  public init(signal: Int32, call: CallID? = nil) {
    self.signal = signal
    self.call = call
  }
}

/// Deaths of the process that are held against a call, because nothing else was in flight, or the crash has named it.
///
/// They are bits of ``CallProgress/interruptions``: kills in 14 and 15, crashes in 16 and 17, ``CallProgress/isAlone`` in 19.
enum Strikes {
  static let first = 1 << 14
  static let kills = 0b11 << 14
  static let oneCrash = 1 << 16
  static let alone = 1 << 19
  static let all = 0b1111 << 14 | alone
  /// A kill may have come from outside, and meet the same call again by chance.
  static let mostKills = 3
  static let mostCrashes = 2
}

extension CallProgress {
  /// Whether no other attempt has been in flight in this process since the one in flight began. Only suspects say so.
  public var isAlone: Bool {
    get { interruptions & Strikes.alone != 0 }
    set { interruptions = newValue ? interruptions | Strikes.alone : interruptions & ~Strikes.alone }
  }

  /// Deaths without a trace that are held against the call, since an attempt of it was last survived.
  public var kills: Int { (interruptions & Strikes.kills) / Strikes.first }
  /// Crashes that are held against the call.
  public var crashes: Int { interruptions / Strikes.oneCrash & 0b11 }

  /// The process has died, and of nothing else than this call. Returns whether that ends the call.
  public mutating func strike(isCrash: Bool) -> Bool {
    interruptions += isCrash ? Strikes.oneCrash : Strikes.first
    return crashes >= Strikes.mostCrashes || kills + crashes >= Strikes.mostKills
  }

  /// An attempt has ended, and the process lives. A kill was none of its doing then; a crash has a cause, and may come again.
  public mutating func survive() {
    interruptions &= ~(Strikes.kills | Strikes.alone)
  }
}
