internal import Glibc
package import RedialCore
package import RedialModel

/// How far the payloads of ended calls are erased: up to this one, in the order of their ends. It is stored, so that no
/// call is looked at twice.
package struct PayloadPlace: Sendable, Hashable {
  /// When the last of them ended.
  package var end: Timestamp
  package var id: CallID

  /// The name of the stored value.
  package static let settingName = "payloadsErasedTo"
  /// Before all calls.
  package static let start = PayloadPlace(before: Timestamp(microseconds: 0))
  /// How long after its end a call is stored at the latest, unless the store fails meanwhile. No place is as near to the
  /// present, see ``Retention/payloadTimes``.
  package static let longestCommit = Duration.seconds(10)

  /// Whether a call that is stored now ended so long ago that payloads of later ones may be erased.
  package static func isLate(_ end: Timestamp) -> Bool {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return end + longestCommit < Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  /// Creates a place.
  package init(end: Timestamp, id: CallID) {
    (self.end, self.id) = (end, id)
  }

  /// Before all calls that ended at a time or later.
  package init(before end: Timestamp) {
    self.init(end: Timestamp(microseconds: end.microseconds - 1), id: CallID(rawValue: .max))
  }

  /// Reads a stored value; nil for a text that is none.
  package init?(_ text: String) {
    let parts = text.split(separator: " ").compactMap { Int64($0) }
    guard parts.count == 2 else { return nil }
    self.init(end: Timestamp(microseconds: parts[0]), id: CallID(rawValue: parts[1]))
  }

  /// The value as it is stored.
  package var text: String { "\(end.microseconds) \(id.rawValue)" }
}

extension [StoreWrite] {
  /// When the first of the calls that these changes leave as ended did so; nil if there is none.
  package var firstEnd: Timestamp? {
    var first: Timestamp?
    for write in self {
      let end: Timestamp? =
        switch write {
        case .insert(let call): call.progress.finishedAt
        case .update(_, let progress, _): progress.finishedAt
        default: nil
        }
      if let end, first.map({ end < $0 }) ?? true { first = end }
    }
    return first
  }
}
