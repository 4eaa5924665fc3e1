internal import RedialModel

extension PackedAttempts {
  /// Reads packed attempts. Each step ends with nil when a byte is not what it should be; no byte outside is read.
  struct Unpacking {
    private let bytes: [UInt8]
    /// The next byte.
    private var place = 0
    /// The end of what may be read now.
    private var end = 0

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
    }

    /// The attempts; nil if the bytes are damaged.
    func attempts() -> [StoredAttempt]? {
      var reading = self
      return reading.all()
    }

    private mutating func all() -> [StoredAttempt]? {
      guard bytes.count > prefix, bytes[1] > 0 else { return nil }
      place = prefix
      guard open(.facts, from: 0) else { return nil }
      var attempts: [StoredAttempt] = []
      for _ in 0..<bytes[1] {
        guard let attempt = facts() else { return nil }
        attempts.append(attempt)
      }
      guard close() else { return nil }
      if place == bytes.count { return attempts }
      var heads: [Head] = []
      guard open(.heads, from: place) else { return nil }
      for index in attempts.indices {
        guard let (head, response) = head() else { return nil }
        heads.append(head)
        attempts[index].response = response
      }
      guard close() else { return nil }
      if place == bytes.count {
        // The bodies were cut off.
        for (index, head) in heads.enumerated() where head.contains(.body) {
          attempts[index].response?.isTruncated = true
        }
        return attempts
      }
      guard open(.bodies, from: place) else { return nil }
      for (index, head) in heads.enumerated() where head.contains(.body) {
        if head.contains(.compressed) {
          guard let size = number() else { return nil }
          attempts[index].response?.inflatedSize = size
        }
        guard let body = string(), !body.isEmpty else { return nil }
        attempts[index].response?.body = body
      }
      return close() && place == bytes.count ? attempts : nil
    }

    // MARK: Parts

    /// Goes into a part, if its size and its checksum are right.
    private mutating func open(_ part: Part, from first: Int) -> Bool {
      guard bytes.count - place >= frame else { return false }
      let size = bytes[place..<(place + sizeBytes)].reduce(0) { $0 << 8 | Int($1) }
      place += sizeBytes
      guard bytes.count - place >= size + checksumBytes else { return false }
      end = place + size
      let sum = bytes[end..<(end + checksumBytes)].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
      return sum == checksum(bytes[first..<end], of: part)
    }

    /// Goes behind a part, if all of it was read.
    private mutating func close() -> Bool {
      guard place == end else { return false }
      place += checksumBytes
      return true
    }

    private mutating func facts() -> StoredAttempt? {
      guard let first = byte() else { return nil }
      let facts = Facts(rawValue: first)
      guard Facts.known.isSuperset(of: facts), let number = number(), let startedAt = self.number(),
        let duration = self.number(), let outcome = self.number()
      else { return nil }
      var attempt = StoredAttempt(
        number: number, startedAt: startedAt, duration: duration, outcome: outcome, status: nil, failure: nil,
        decision: [], figures: [], response: nil)
      if facts.contains(.status) {
        guard let status = self.number() else { return nil }
        attempt.status = status
      }
      if facts.contains(.failure) {
        guard let code = string(), let message = string() else { return nil }
        attempt.failure = AttemptFailure(
          code: String(decoding: code, as: UTF8.self), message: String(decoding: message, as: UTF8.self))
      }
      guard let decision = string(), let figures = string() else { return nil }
      (attempt.decision, attempt.figures) = (decision, figures)
      return attempt
    }

    /// What is there of a response, and the response without its body; an attempt without a response has none.
    private mutating func head() -> (Head, StoredAttempt.Response?)? {
      guard let first = byte() else { return nil }
      let head = Head(rawValue: first)
      guard !head.isEmpty else { return (head, nil) }
      guard Head.known.isSuperset(of: head), head.contains(.response),
        head.contains(.body) || !head.contains(.compressed), let lines = string()
      else { return nil }
      return (
        head,
        StoredAttempt.Response(
          isTruncated: head.contains(.truncated), head: lines, body: [], isSealed: head.contains(.sealed))
      )
    }

    // MARK: Values

    private mutating func byte() -> UInt8? {
      guard place < end else { return nil }
      place += 1
      return bytes[place - 1]
    }

    private mutating func number() -> Int64? {
      natural().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    private mutating func natural() -> UInt64? {
      var value: UInt64 = 0
      for shift in stride(from: 0 as UInt64, to: 64, by: 7) {
        guard let byte = byte() else { return nil }
        // The tenth byte has one bit.
        guard shift < 63 || byte <= 1 else { return nil }
        value |= UInt64(byte & 0x7F) << shift
        if byte & 0x80 == 0 { return value }
      }
      return nil
    }

    private mutating func string() -> [UInt8]? {
      guard let size = natural(), size <= UInt64(end - place) else { return nil }
      defer { place += Int(size) }
      return Array(bytes[place..<(place + Int(size))])
    }
  }
}
