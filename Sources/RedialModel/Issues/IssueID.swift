public import RedialCore

/// Which issue it is: one for a target, what is wrong with it, and in what. Calls that failed are one for each reason and error.
///
/// It follows from these alone, so that every instance gives the same, and no call is counted in two. The lowest byte is the
/// cause, and the others are a hash: two of a million groups share one with a probability of 0.002.
public struct IssueID: Sendable, Hashable {
  /// What is wrong, and for failed calls why they failed.
  public enum Cause: Sendable, Hashable {
    case failed(StopReason)
    case late, failing, down, held, stuck

    public var kind: IssueKind {
      switch self {
      case .failed: .failed
      case .late: .late
      case .failing: .failing
      case .down: .down
      case .held: .held
      case .stuck: .stuck
      }
    }

    private static let others: [(byte: UInt8, cause: Cause)] = [
      (0xc0, .late), (0xc1, .failing), (0xc2, .down), (0xc3, .held), (0xc4, .stuck),
    ]

    fileprivate init?(byte: UInt8) {
      guard
        let cause = Self.others.first(where: { $0.byte == byte })?.cause ?? StopReason(rawValue: byte).map(Self.failed)
      else { return nil }
      self = cause
    }

    fileprivate var byte: UInt8 {
      if case .failed(let reason) = self { return reason.rawValue }
      return Self.others.first { $0.cause == self }?.byte ?? 0
    }
  }

  /// The integer, more than 255 and less than 2^56.
  public let rawValue: Int64

  private static let prefix = "issue_"
  private static let digits = 14

  /// The id of a group.
  init(_ kind: CallKind, _ target: TargetKey, _ cause: Cause, _ error: String) {
    var hash = FNV1a()
    hash.add(kind.rawValue)
    for part in [target.text, error] {
      hash.add(part)
      // No text contains it.
      hash.add(0xff)
    }
    // With a hash of zero it would be a reason alone.
    let high = max(1, hash.value >> 16 ^ hash.value & 0xffff)
    rawValue = Int64(high) << 8 | Int64(cause.byte)
  }

  /// The id with that integer; nil if there is none.
  public init?(rawValue: Int64) {
    guard rawValue >> 8 > 0, rawValue >> 56 == 0, Self.cause(in: rawValue) != nil else { return nil }
    self.rawValue = rawValue
  }

  /// Reads the text of an id; nil if it is not one.
  public init?(_ text: String) {
    let hexadecimal = text.dropFirst(Self.prefix.count)
    guard text.hasPrefix(Self.prefix), hexadecimal.utf8.count == Self.digits, !hexadecimal.hasPrefix("+"),
      let value = Int64(hexadecimal, radix: 16)
    else { return nil }
    self.init(rawValue: value)
  }

  /// What is wrong.
  public var cause: Cause { Self.cause(in: rawValue) ?? .failed(.notRetryable) }
  public var kind: IssueKind { cause.kind }
  /// Why its calls failed; nil if they have not.
  public var failure: StopReason? { if case .failed(let reason) = cause { reason } else { nil } }

  fileprivate static func cause(in value: Int64) -> Cause? { Cause(byte: UInt8(truncatingIfNeeded: value)) }
}

extension IssueID: CustomStringConvertible {
  public var description: String {
    let text = String(rawValue, radix: 16)
    return Self.prefix + String(repeating: "0", count: Self.digits - text.utf8.count) + text
  }
}

/// Why a call failed, and its group, as one number: what stores have. Calls that failed before there were groups have the
/// reason alone.
public struct FailureCode: Sendable, Hashable {
  /// The number: the id of the group, or that of the reason.
  public let rawValue: Int64

  /// The number of a reason and a group; nil for a call that has not failed.
  public init?(_ reason: StopReason?, _ issue: IssueID?) {
    guard let value = issue?.rawValue ?? reason.map({ Int64($0.rawValue) }) else { return nil }
    rawValue = value
  }

  /// Reads a number; nil if none has it.
  public init?(rawValue: Int64) {
    guard Self.reason(in: rawValue) != nil, rawValue <= Self.reasonMask || IssueID(rawValue: rawValue) != nil else {
      return nil
    }
    self.rawValue = rawValue
  }

  public var reason: StopReason { Self.reason(in: rawValue) ?? .notRetryable }
  public var issue: IssueID? { IssueID(rawValue: rawValue) }

  /// The bits with the reason.
  public static let reasonMask: Int64 = 0xff

  private static func reason(in value: Int64) -> StopReason? {
    value > 0 ? StopReason(rawValue: UInt8(truncatingIfNeeded: value)) : nil
  }
}
