internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The bytes of a row of the log: the format, a checksum of the rest (8 bytes, the highest first), the row's number, the
/// first row that is needed, and records. A record begins with its kind; numbers have seven bits a byte.
enum LogRecords {
  /// The format of this version.
  static let format: UInt8 = 2
  private static let checksumBytes = 8
  /// Where the row's number is.
  private static let contentStart = 1 + checksumBytes

  /// What a record says.
  private enum Kind: UInt8 {
    case insert = 1
    case update, key, folded
    /// Zeros up to the end of the row.
    case padding
  }

  // MARK: Writing

  static func add(_ new: NewCall, to writer: inout PackedWriter) {
    writer.add(byte: Kind.insert.rawValue)
    writer.add(new.call.id.rawValue)
    writer.add(byte: new.call.kind.rawValue)
    writer.add(new.targetID)
    writer.add(new.namespace)
    writer.add(new.call.createdAt.microseconds)
    add(new.call.progress, to: &writer)
    writer.add(new.request.spec)
    writer.add(new.request.body)
    writer.add(new.request.inflatedSize)
  }

  /// A call's progress, and an attempt that has ended.
  ///
  /// - Parameter stored: The call's kind, if nothing else is logged of it, because the tables have it.
  static func add(
    _ id: CallID, stored: CallKind?, _ progress: CallProgress, _ attempt: LoggedAttempt?, to writer: inout PackedWriter
  ) {
    writer.add(byte: Kind.update.rawValue)
    writer.add(id.rawValue)
    writer.add(byte: stored.map { $0.rawValue + 1 } ?? 0)
    add(progress, to: &writer)
    writer.add(attempt?.packed ?? [])
  }

  /// The key of a call.
  static func add(_ key: KeyRecord, to writer: inout PackedWriter) {
    writer.add(byte: Kind.key.rawValue)
    writer.add(key.call.rawValue)
    writer.add(Array(key.key.name.text.utf8))
    writer.add(key.key.fingerprint)
    writer.add(key.createdAt.microseconds)
    writer.add(key.expiresAt.microseconds)
  }

  /// Calls that are in the tables from now on.
  static func add(folded calls: [CallID], to writer: inout PackedWriter) {
    writer.add(byte: Kind.folded.rawValue)
    writer.add(UInt64(calls.count))
    var before: Int64 = 0
    for call in calls {
      writer.add(call.rawValue &- before)
      before = call.rawValue
    }
  }

  /// The bytes of a row, and where they go.
  ///
  /// - Parameter place: Gives the place for a row of a size, which may be padded there.
  static func row(_ batch: LogBatch, _ place: (Int) -> LogPlaces.Place) -> (bytes: [UInt8], place: LogPlaces.Place) {
    var content = PackedWriter()
    content.add(batch.number)
    content.add(batch.tail)
    let size = contentStart + content.bytes.count + batch.records.bytes.count
    let place = place(size)
    var row: [UInt8] = []
    row.reserveCapacity(max(size, place.bytes))
    row.append(format)
    row.append(contentsOf: repeatElement(0, count: checksumBytes))
    row += content.bytes
    row += batch.records.bytes
    if place.bytes > size {
      row.append(Kind.padding.rawValue)
      row.append(contentsOf: repeatElement(0, count: place.bytes - size - 1))
    }
    let sum = checksum(row)
    for index in 0..<checksumBytes { row[1 + index] = UInt8(truncatingIfNeeded: sum >> UInt64(56 - 8 * index)) }
    return (row, place)
  }

  private static func add(_ progress: CallProgress, to writer: inout PackedWriter) {
    writer.add(byte: progress.state.rawValue)
    let base = progress.roundStartedAt.microseconds
    writer.add(base)
    writer.add(progress.due.microseconds &- base)
    writer.add(progress.waiting.map { Int64($0.rawValue) })
    writer.add(Int64(progress.attempts))
    writer.add(Int64(progress.interruptions))
    writer.add(Int64(progress.attemptsBefore))
    writer.add((progress.finishedAt?.microseconds).map { $0 &- base })
    writer.add(progress.failureCode?.rawValue)
    writer.add(progress.waits.previous.wholeMicroseconds)
    writer.add(progress.waits.total.wholeMicroseconds)
  }

  /// A checksum of the bytes of a row from a place on.
  ///
  /// Eight bytes at a time are multiplied and mixed, as in the finalizers of Steele, Lea and Flood ("Fast Splittable
  /// Pseudorandom Number Generators", OOPSLA 2014): zlib's CRC took six thousand instructions a call.
  private static func checksum(_ row: [UInt8]) -> UInt64 {
    row.withUnsafeBytes { bytes in
      let content = bytes.dropFirst(contentStart)
      var sum = UInt64(content.count)
      var place = content.startIndex
      while content.endIndex - place >= 8 {
        sum = mixed(sum ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
        place += 8
      }
      for byte in content[place...] { sum = mixed(sum ^ UInt64(byte)) }
      return sum
    }
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    let product = value &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 32
  }

  // MARK: Reading

  /// The number of a row, and of the first row that was needed with it; nil if the row is damaged.
  static func numbers(of row: [UInt8]) -> (number: Int64, tail: Int64)? {
    guard row.count > contentStart, row[0] == format else { return nil }
    let sum = row[1...checksumBytes].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    guard sum == checksum(row) else { return nil }
    var reader = PackedReader(row, from: contentStart)
    guard let number = reader.number(), let tail = reader.number(), number > 0, (1...number).contains(tail) else {
      return nil
    }
    return (number, tail)
  }

  /// What a row changes, after the rows before it; nil if it is damaged.
  ///
  /// - Parameter logged: What the rows before have left.
  static func batch(in row: [UInt8], after logged: LoggedCalls, _ vault: Vault) -> LogBatch? {
    guard let (number, tail) = numbers(of: row) else { return nil }
    var reader = PackedReader(row, from: contentStart)
    _ = (reader.number(), reader.number())
    var batch = LogBatch(number: number, tail: tail)
    while !reader.isAtEnd {
      guard let byte = reader.byte(), let kind = Kind(rawValue: byte) else { return nil }
      let isRead =
        switch kind {
        case .insert: insert(&reader, into: &batch, vault)
        case .update: update(&reader, into: &batch, after: logged)
        case .key: key(&reader, into: &batch, after: logged)
        case .folded: fold(&reader, into: &batch)
        case .padding: reader.skipZeros()
        }
      guard isRead else { return nil }
    }
    return batch
  }

  /// The calls that a damaged row seems to be about, as far as its records have their form.
  static func calls(inDamaged row: [UInt8], _ vault: Vault) -> [CallID] {
    var reader = PackedReader(row, from: min(contentStart, row.count))
    _ = (reader.number(), reader.number())
    var (batch, calls) = (LogBatch(number: 0, tail: 0), Set<CallID>())
    while !reader.isAtEnd, let kind = reader.byte().flatMap({ Kind(rawValue: $0) }), kind != .padding {
      var next = reader
      if kind != .folded, let id = next.number(), id > 0 { calls.insert(CallID(rawValue: id)) }
      let isRead =
        switch kind {
        case .insert: insert(&reader, into: &batch, vault)
        case .update: update(&reader, into: &batch, after: LoggedCalls())
        case .key: key(&reader, into: &batch, after: LoggedCalls())
        case .folded: fold(&reader, into: &batch)
        case .padding: false
        }
      guard isRead else { break }
    }
    return calls.sorted()
  }

  private static func insert(_ reader: inout PackedReader, into batch: inout LogBatch, _ vault: Vault) -> Bool {
    guard let number = reader.number(), let kind = reader.byte().flatMap({ CallKind(rawValue: $0) }),
      let targetID = reader.number(), let namespace = reader.number(), let createdAt = reader.number(),
      let progress = progress(&reader), let spec = reader.string(), let body = reader.string(),
      let size = reader.optional()
    else { return false }
    let id = CallID(rawValue: number)
    var (read, content) = (CallSpec?.none, [UInt8]())
    var damage: StoredRequest.Damage?
    do throws(StoredRequest.Damage) {
      read = try spec.withUnsafeBufferPointer { bytes throws(StoredRequest.Damage) in
        try StoredRequest.spec(bytes, of: id, nil, vault)
      }
      content = try body.withUnsafeBufferPointer { bytes throws(StoredRequest.Damage) in
        try StoredRequest.body(
          bytes, size: size, isSealed: spec.first == SealedForm.marker, of: id, nil, vault)
      }
    } catch {
      // The record itself is intact. A value that does not open must not keep the other calls from being read.
      guard spec.first == SealedForm.marker, error.cause == nil else { return false }
      damage = error
      (read, content) = (nil, [])
    }
    let known = read ?? DamagedCall(id: id, reason: "").standIn(for: CallFilter()).record.spec
    let call = CallRecord(
      id: id, kind: kind, spec: known, body: content, createdAt: Timestamp(microseconds: createdAt), progress: progress)
    let new = NewCall(
      call: call, targetID: targetID, namespace: namespace,
      request: StoredRequest(spec: spec, body: body, inflatedSize: size), damage: damage)
    batch.insert(new)
    return true
  }

  private static func update(
    _ reader: inout PackedReader, into batch: inout LogBatch, after logged: LoggedCalls
  ) -> Bool {
    guard let id = reader.number().map({ CallID(rawValue: $0) }), let first = reader.byte(),
      let progress = progress(&reader), let packed = reader.string()
    else { return false }
    let attempt = packed.isEmpty ? nil : LoggedAttempt(packed: packed)
    guard packed.isEmpty || attempt != nil else { return false }
    let stored = first == 0 ? nil : CallKind(rawValue: first - 1)
    guard first == 0 || stored != nil else { return false }
    // If the first record of a call was in a row that is not needed any more, a later row says that it was folded.
    batch.update(id, batch.call(id, after: logged), stored: stored, progress, attempt)
    return true
  }

  private static func key(
    _ reader: inout PackedReader, into batch: inout LogBatch, after logged: LoggedCalls
  ) -> Bool {
    guard let id = reader.number().map({ CallID(rawValue: $0) }), let name = reader.string(),
      let fingerprint = reader.string(), let createdAt = reader.number(), let expiresAt = reader.number()
    else { return false }
    let qualified = IdempotencyName(qualified: String(decoding: name, as: UTF8.self))
    let key = KeyRecord(
      key: IdempotencyKey(qualified, fingerprint: fingerprint), call: id,
      createdAt: Timestamp(microseconds: createdAt), expiresAt: Timestamp(microseconds: expiresAt))
    batch.set(key, of: batch.call(id, after: logged))
    return true
  }

  private static func fold(_ reader: inout PackedReader, into batch: inout LogBatch) -> Bool {
    guard let count = reader.natural() else { return false }
    var before: Int64 = 0
    for _ in 0..<count {
      guard let difference = reader.number() else { return false }
      before = before &+ difference
      batch.fold(CallID(rawValue: before))
    }
    return true
  }

  private static func progress(_ reader: inout PackedReader) -> CallProgress? {
    guard let state = reader.byte().flatMap({ StoredState(rawValue: $0) }), let base = reader.number(),
      let due = reader.number(), let waiting = reader.optional(), let attempts = reader.number(),
      let interruptions = reader.number(), let attemptsBefore = reader.number(), let finishedAt = reader.optional(),
      let failure = reader.optional(), let previous = reader.number(), let total = reader.number()
    else { return nil }
    let reason = waiting.flatMap { UInt8(exactly: $0) }.flatMap { WaitReason(rawValue: $0) }
    let stop = failure.flatMap { FailureCode(rawValue: $0) }
    guard (waiting == nil) == (reason == nil), (failure == nil) == (stop == nil) else { return nil }
    return CallProgress(
      state: state, due: Timestamp(microseconds: base &+ due), waiting: reason, attempts: Int(attempts),
      interruptions: Int(interruptions), attemptsBefore: Int(attemptsBefore),
      waits: WaitHistory(previous: .microseconds(previous), total: .microseconds(total)),
      roundStartedAt: Timestamp(microseconds: base),
      finishedAt: finishedAt.map { Timestamp(microseconds: base &+ $0) }, failure: stop?.reason, issue: stop?.issue)
  }
}

// MARK: - The changes of a batch

extension LogBatch {
  /// A call as it is after this batch's changes so far; nil if it is not logged.
  func call(_ id: CallID, after logged: LoggedCalls) -> LoggedCalls.Call? {
    if let changed = calls[id] { return changed }
    return logged.calls[id]
  }

  mutating func insert(_ new: NewCall) {
    calls[new.call.id] = .some(LoggedCalls.Call(new: new, progress: new.call.progress, row: number))
    if new.call.progress.state.isFinal { ended.append(new.call.id) }
  }

  /// A call has progressed.
  ///
  /// - Parameters:
  ///   - known: What is logged of it.
  ///   - stored: Its kind, if nothing is logged of it, because the tables have it.
  mutating func update(
    _ id: CallID, _ known: LoggedCalls.Call?, stored: CallKind?, _ progress: CallProgress, _ attempt: LoggedAttempt?
  ) {
    let attempts = attempt.map { (known?.attempts ?? []) + [$0] } ?? known?.attempts ?? []
    calls[id] = .some(
      LoggedCalls.Call(
        new: known?.new, stored: known.map { $0.stored } ?? stored, progress: progress, attempts: attempts,
        key: known?.key, row: known?.row ?? number))
    if progress.state.isFinal { ended.append(id) }
  }

  /// A call was accepted under a key.
  mutating func set(_ key: KeyRecord, of known: LoggedCalls.Call?) {
    guard let known else { return }
    calls[key.call] = .some(
      LoggedCalls.Call(
        new: known.new, stored: known.stored, progress: known.progress, attempts: known.attempts, key: key,
        row: known.row))
    keys[key.key.name] = key.call
  }

  /// A call is in the tables.
  mutating func fold(_ id: CallID) {
    calls[id] = .some(nil)
    folded.append(id)
  }
}
