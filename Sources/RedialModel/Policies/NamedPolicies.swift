internal import RedialCore
internal import Synchronization

/// The stored policies in memory, so that a descriptor that names one costs no more than any other.
///
/// It follows the store: code that changes a policy there updates it once the change is on disk.
public final class NamedPolicies: Sendable {
  private struct Version: Sendable {
    let stored: StoredPolicy
    let known: KnownPolicy
  }

  private struct Book: Sendable {
    /// The kept versions, the newest last; never empty.
    var policies: [PolicyName: [Version]] = [:]
    /// The version that removed the policy.
    var removed: [PolicyName: StoredPolicy] = [:]
    /// Those of which the latest version cannot be read. No call gets an earlier one in its place.
    var damaged: Set<PolicyName> = []
  }

  private let book = Mutex(Book())

  /// No policies.
  public init() {}

  /// The number of a namespace's policies.
  public func count(in namespace: Namespace = .default) -> Int { all(in: namespace).count }

  /// The current version of every policy of a namespace, by name.
  public func all(in namespace: Namespace = .default) -> [StoredPolicy] {
    book.withLock { book in book.policies.values.compactMap { $0.last?.stored } }
      .filter { $0.namespace == namespace }.sorted { $0.name < $1.name }
  }

  /// The kept versions of a policy, the newest last; empty if there is none of that name.
  public func versions(of name: String, in namespace: Namespace = .default) -> [StoredPolicy] {
    book.withLock { $0.policies[PolicyName(name, in: namespace), default: []].map(\.stored) }
  }

  /// The number of the next version of a policy.
  public func nextVersion(of name: String, in namespace: Namespace = .default) -> Int {
    let key = PolicyName(name, in: namespace)
    return book.withLock { book in (book.policies[key]?.last?.stored ?? book.removed[key])?.version ?? 0 } + 1
  }

  /// Of a namespace's removed names, the one that was removed first, if there are that many or more.
  public func longestRemoved(of limit: Int, in namespace: Namespace = .default) -> StoredPolicy? {
    let removed = book.withLock { book in book.removed.values.filter { $0.namespace == namespace } }
    return removed.count >= limit ? removed.min { $0.createdAt < $1.createdAt } : nil
  }

  /// The versions that are not kept any more once this one is stored.
  ///
  /// - Parameter limit: How many versions are kept.
  public func displaced(by new: StoredPolicy, keeping limit: Int) -> [StoredPolicy] {
    book.withLock { book in
      let kept = book.policies[new.key, default: []].map(\.stored)
      return (book.removed[new.key].map { [$0] } ?? []) + kept.dropLast(new.isRemoval ? 0 : max(0, limit - 1))
    }
  }

  /// Takes all stored versions in place of what it has: also those that a lower limit keeps no more, so that the next one
  /// displaces them in the store too.
  ///
  /// A version that is not valid counts as one that removed the policy.
  public func replace(with stored: [StoredPolicy]) {
    let fresh = NamedPolicies()
    for policy in stored {
      do throws(Problem) {
        try fresh.add(policy, keeping: .max)
      } catch {
        fresh.book.withLock { book in
          book.policies[policy.key] = nil
          book.removed[policy.key] = policy
          book.damaged.insert(policy.key)
        }
      }
    }
    let all = fresh.book.withLock { $0 }
    book.withLock { $0 = all }
  }

  /// Adds a version that is newer than the existing ones.
  ///
  /// - Parameter limit: How many versions are kept.
  /// - Throws: The problem, if it is not a valid policy.
  public func add(_ stored: StoredPolicy, keeping limit: Int) throws(Problem) {
    let key = stored.key
    guard !stored.isRemoval else {
      return book.withLock { book in
        book.damaged.remove(key)
        book.policies[key] = nil
        book.removed[key] = stored
      }
    }
    let draft = try stored.json.withUnsafeBufferPointer { bytes throws(Problem) in try PolicyDraft.read(bytes) }
    let version = Version(stored: stored, known: KnownPolicy(draft))
    book.withLock { book in
      book.policies[key] = (book.policies[key, default: []] + [version]).suffix(limit)
      book.removed[key] = nil
      book.damaged.remove(key)
    }
  }

  /// The names of a namespace's policies that cannot be read.
  public func damaged(in namespace: Namespace) -> [String] {
    book.withLock { $0.damaged }.filter { $0.namespace == namespace }.map(\.bare).sorted()
  }

  /// Forgets the name of a policy that was removed.
  public func forget(_ removal: StoredPolicy) {
    book.withLock { $0.removed[removal.key] = nil }
  }

  /// The result of looking up a reference.
  enum Resolution {
    case found(KnownPolicy, reference: String)
    /// What is wrong with it, as a clause.
    case fault(String)
  }

  /// The policy that a descriptor names: the current version of `NAME`, or the given one of `NAME@VERSION`.
  func resolve(_ reference: String, in namespace: Namespace) -> Resolution {
    let parts = reference.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    let key = PolicyName(name, in: namespace)
    guard let versions = book.withLock({ $0.policies[key] }), let last = versions.last else {
      guard StoredPolicy.isName(name) else {
        return .fault("names the policy \"\(name)\", which is no name of a policy: \(StoredPolicy.nameRule)")
      }
      return .fault("names the policy \"\(name)\", which does not exist; PUT /v1/policies/\(name) makes it")
    }
    guard parts.count == 2 else { return .found(last.known, reference: last.stored.reference) }
    guard let version = versions.first(where: { "\($0.stored.version)" == parts[1] }) else {
      let (first, newest) = (versions.first?.stored.version ?? 0, last.stored.version)
      return .fault(
        "names version \(parts[1]) of \"\(name)\"; the versions that are kept go from \(first) to \(newest)")
    }
    return .found(version.known, reference: version.stored.reference)
  }
}

extension NamedPolicies: Hashable {
  /// Whether they are the same object.
  public static func == (one: NamedPolicies, other: NamedPolicies) -> Bool { one === other }

  /// Feeds the object's identity to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
