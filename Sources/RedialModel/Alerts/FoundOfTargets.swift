internal import RedialCore

/// The namespaces of which the leader asks an instance what it finds.
public struct FindRequest: StoredRecord, Hashable {
  private var namespaces: [Namespace] = []
  /// Whether the leader has got the last answer of the instance, and judges by it.
  public var wasHeard = false

  public init() {}

  /// Creates a request.
  public init(_ namespaces: Set<Namespace>, wasHeard: Bool) {
    (self.namespaces, self.wasHeard) = (namespaces.sorted(), wasHeard)
  }

  public var all: Set<Namespace> { Set(namespaces) }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout FindRequest
  ) throws(Visitor.Failure) {
    try visitor.visit("namespaces", &record.namespaces)
    try visitor.visit("wasHeard", &record.wasHeard)
  }
}

/// What an instance finds of the targets whose calls it runs: whoever judges the alerts asks it.
public struct FoundOfTargets: StoredRecord, Hashable {
  /// The numbers of the shards that were examined.
  private var numbers: [Int] = []
  public var findings: [AlertFinding] = []

  public init() {}

  /// Creates an answer.
  public init(_ findings: [AlertFinding], in shards: ShardSet) {
    (self.findings, numbers) = (findings, shards.shards)
  }

  /// The shards that were examined.
  public var shards: ShardSet { ShardSet(numbers) }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout FoundOfTargets
  ) throws(Visitor.Failure) {
    try visitor.visit("shards", &record.numbers)
    try visitor.visit("findings", &record.findings)
  }

  /// Takes what another has found, where nothing was examined yet: while a shard changes hands, two may have it.
  public mutating func add(_ other: FoundOfTargets) {
    let known = shards
    findings += other.findings.filter { finding in
      guard let shard = finding.shard else { return false }
      return other.shards.contains(shard) && !known.contains(shard)
    }
    numbers = known.union(other.shards).shards
  }
}

extension AlertFinding {
  /// The shard of its target; nil if it is about none.
  fileprivate var shard: Int? { target.map { ShardSet.shard(of: TargetKey($0, in: namespace)) } }
}
