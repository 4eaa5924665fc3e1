internal import CCurl
internal import RedialCore

/// The result of a lookup.
struct NameAnswer: Sendable {
  var name: String
  var result: NameLookup.Result
}

/// Transfers that wait for the address of a name. All that wait for one name share one lookup.
extension TransferLoop {
  /// How often waiting names are checked again, in milliseconds, because running lookups become slow.
  private static let lookupPause: Int32 = 100

  /// How long the thread sleeps without an event, in milliseconds.
  func lookupSleep(atMost longest: Int32) -> Int32 {
    let longest = nameTimers.sleep(atMost: longest)
    return lookups.hasWaiting ? min(longest, Self.lookupPause) : longest
  }

  /// Makes a transfer wait for its name, which libcurl does not know.
  func awaitName(_ transfer: Transfer) {
    withdraw(transfer)
    let now = ContinuousClock.now
    transfer.beginWaiting(at: now)
    named[transfer.naming.name, default: []].insert(transfer.id)
    lookups.ask(transfer.naming.name)
    let left = min(transfer.course.timeLimit, transfer.longestToConnect) - transfer.suspension.spent
    nameTimers.add(TransferTimers.Entry(transfer: transfer, generation: transfer.generation), after: left)
  }

  /// Starts as many lookups as the queue allows.
  func startLookups() {
    guard lookups.hasWaiting else { return }
    let now = ContinuousClock.now
    while let name = lookups.next(at: now) {
      NameLookup.start(name, by: resolve) { [weak self] result in
        self?.post([.name(NameAnswer(name: name, result: result))])
      }
    }
  }

  /// Continues the transfers that wait for a name.
  func take(_ answer: NameAnswer) {
    let now = ContinuousClock.now
    lookups.end(answer.name, at: now)
    for id in named.removeValue(forKey: answer.name) ?? [] {
      guard let transfer = transfers[id], transfer.naming.isWaiting else { continue }
      transfer.endWaiting(at: now)
      switch answer.result {
      case .found(let addresses): proceed(transfer, transfer.setAddresses(addresses))
      case .none: end(transfer, CURLE_COULDNT_RESOLVE_HOST)
      case .unknown: endUnresolved(transfer)
      case .noThread: end(transfer, CURLE_OUT_OF_MEMORY)
      }
    }
  }

  /// Ends transfers that have waited for their name as long as connecting may take.
  func endWaiting() {
    while let entry = nameTimers.popExpired() {
      let transfer = entry.transfer
      guard transfer.generation == entry.generation, transfer.naming.isWaiting,
        let since = transfer.suspension.since
      else { continue }
      let now = ContinuousClock.now
      // It may wait for another lookup than when this was recorded.
      let left =
        min(transfer.course.timeLimit, transfer.longestToConnect) + transfer.more - transfer.suspension.spent
        - (now - since)
      guard left <= .zero else {
        nameTimers.add(entry, after: left)
        continue
      }
      stopWaiting(transfer)
      transfer.message.set("The name was not resolved in time")
      end(transfer, CURLE_OPERATION_TIMEDOUT)
    }
  }

  /// Removes a transfer from its name's waiting list, if it is in one.
  func stopWaiting(_ transfer: Transfer) {
    guard transfer.naming.isWaiting else { return }
    transfer.endWaiting(at: .now)
    let name = transfer.naming.name
    named[name]?.remove(transfer.id)
    if named[name]?.isEmpty == true {
      named[name] = nil
      lookups.forget(name)
    }
  }
}
