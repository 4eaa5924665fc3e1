internal import Glibc
package import RedialCore
package import RedialModel

extension AuditRecord {
  /// The record of what a command does with a store: whoever runs it is a user of the system.
  ///
  /// - Parameters:
  ///   - user: The number of the user; nil for that of this process.
  ///   - now: When; nil for now.
  package static func ofCommand(
    _ action: AuditAction, _ object: String, in namespace: Namespace, user: UInt32? = nil, at now: Timestamp? = nil
  ) -> AuditRecord {
    var record = AuditRecord()
    (record.action, record.object, record.namespace) = (action.rawValue, object, namespace)
    (record.actorKind, record.at) = (.command, now ?? WallTime.now)
    record.id = AuditRecord.id(at: record.at, .random(in: 0...(.max)))
    let user = user ?? getuid()
    record.actor = getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
    return record
  }

  /// The record of new data keys.
  package static func ofNewKeys(user: UInt32? = nil) -> AuditRecord {
    ofCommand(.dataKeysReplaced, "all namespaces", in: .default, user: user)
  }

  /// The record of data keys that are erased.
  package static func ofErasedKeys(of namespace: Namespace, user: UInt32? = nil) -> AuditRecord {
    ofCommand(.dataKeysErased, namespace.name, in: namespace, user: user)
  }
}
