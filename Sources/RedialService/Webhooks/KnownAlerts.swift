internal import RedialModel
internal import RedialStore
internal import Synchronization

/// The alerts in the store. Their addresses and keys are secrets, so the calls that are their messages have neither: an
/// attempt gets them when it is made.
final class KnownAlerts: Sendable {
  private let alerts = Mutex<[String: Alert]>([:])

  /// Takes the alerts from the store, in place of all others.
  func load(from store: any DocumentStore) throws(StoreError) {
    let stored = try store.documents(.alert).read(as: Alert.self).records
    alerts.withLock { $0 = Dictionary(stored.map { ($0.document.id, $0) }) { $1 } }
  }

  subscript(_ name: String, in namespace: Namespace) -> Alert? {
    alerts.withLock { $0[Alert.documentID(of: name, in: namespace)] }
  }

  func set(_ alert: Alert) { alerts.withLock { $0[alert.document.id] = alert } }

  func remove(_ name: String, in namespace: Namespace) {
    _ = alerts.withLock { $0.removeValue(forKey: Alert.documentID(of: name, in: namespace)) }
  }
}
