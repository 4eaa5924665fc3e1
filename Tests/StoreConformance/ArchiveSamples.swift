import RedialCore
import RedialModel
package import RedialStore

/// All that a store can have, with values that are easily lost on the way.
package enum ArchiveSamples {
  /// Texts: empty, with U+0000, with the mark by which PostgreSQL's store writes that, beyond the first plane, composed
  /// and decomposed, and one whose order differs between the two stores.
  static let texts = [
    "", "plain", "a\0b", "\u{F8FF}", "\u{F8FF}0", "é", "e\u{301}", "📦", "\0", "\u{FFFD}\u{10FFFF}", "acme billing – é",
  ]

  /// What is about no call.
  package static let items: [StoreItem] = {
    var items = texts.map { StoreItem.setting(name: "x" + $0, value: $0) }
    // Others stay where they are, and secrets need a key.
    let kinds = StoredDocument.Kind.allCases.filter { $0.travels && !$0.isSecret }
    items += zip(kinds + kinds, texts).map { kind, text in
      .document(StoredDocument(kind, id: text, Array("{\"a\":\"\(text.count)\"}".utf8)))
    }
    // Content that is no JSON, or of several lines, is kept byte by byte.
    items += [[], [0xFF, 0], Array("{}\n".utf8), Array("{ \"a\" : 1 }".utf8), Array("{\"a\"".utf8)].enumerated().map {
      .document(StoredDocument(.policy, id: "odd\($0.offset)", $0.element))
    }
    items += namespaces.enumerated().map { place, namespace in
      var record = TargetRecord()
      record.controls.isPaused = place % 2 == 0
      record.askedUntil = Sample.time(place)
      return .target(TargetKey("t\(place) – é", in: namespace), record)
    }
    for namespace in namespaces {
      items += StatisticsStep.allCases.map { step in
        .counts(
          StoredCounts(
            namespace: namespace, step: step, start: step.start(of: Sample.start),
            numbers: CallTally().numbers.enumerated().map { Int64($0.offset) }))
      }
    }
    return items.ordered()
  }()

  private static let namespaces = [.default] + ["acme", "billing"].compactMap(Namespace.init)

  /// Calls in each state, with each reason to wait, of several namespaces, with packed and other attempts, and with keys, turns
  /// and manual retries.
  package static let calls: [ArchivedCall] = (0..<60).map { number in
    let state = StoredState.allCases[number % StoredState.allCases.count]
    let namespace = namespaces[number % namespaces.count]
    let isOrdered = number % 5 == 0 && !state.isFinal
    var call = Sample.call(
      number, state, due: Sample.time(number),
      target: isOrdered ? TargetKey("ordered", in: .default) : TargetKey("t\(number % 7)", in: namespace),
      kind: number % 11 == 10 ? .webhook : .call,
      callback: number % 4 == 0 ? Callback(url: "https://me.example.com/hooks") : nil,
      body: [UInt8](repeating: UInt8(number), count: number * 300), priority: number % 10,
      orderingKey: isOrdered ? "k" : nil,
      labels: number % 3 == 0 ? texts.prefix(4).map { .init(name: "l" + $0, value: $0) } : [])
    call.progress.waiting = state == .scheduled || state == .queued ? reasons[number % reasons.count] : nil
    call.progress.attempts = number % 4
    (call.progress.interruptions, call.progress.attemptsBefore) = (number % 3, number % 2)
    var archived = ArchivedCall(record: call, attempts: [])
    archived.attempts = (0..<(number % 4)).map { place in
      var attempt = Sample.attempt(place + 1, body: [UInt8](repeating: UInt8(number), count: place * 5000))
      if place == 1 {
        (attempt.response, attempt.status) = (nil, nil)
        attempt.failure = AttemptFailure(code: "timeout", message: texts[number % texts.count])
      }
      return attempt
    }
    if number % 6 == 0 {
      archived.record.retries = [
        ManualRetry(at: Sample.time(number), afterAttempt: 1, attribution: Attribution(by: "ada", reason: "é\0"))
      ]
    }
    if number % 8 == 0 {
      archived.key = KeyRecord(
        key: IdempotencyKey(IdempotencyName("key \(number) é", in: namespace), fingerprint: [1, 255]), call: call.id,
        createdAt: Sample.start, expiresAt: Sample.time(86_400))
    }
    if archived.record.progress.waiting == .ordering { archived.record.progress.waiting = .backoff }
    if isOrdered {
      archived.hasTurn = number == 0
      if number > 0 { (archived.record.progress.state, archived.record.progress.waiting) = (.queued, .ordering) }
    }
    return archived
  }

  private static let reasons = WaitReason.allCases

  /// All lines that an archive of a store with these samples has.
  package static let lines = items.map { ArchiveLine.item($0).text } + calls.map { ArchiveLine.call($0).text }
}

extension ArchiveLine {
  /// The line as a text, for comparisons.
  package var text: String { String(decoding: json, as: UTF8.self) }
}
