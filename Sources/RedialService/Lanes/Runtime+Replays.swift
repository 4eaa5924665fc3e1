internal import RedialModel
internal import RedialStore

/// Items of batches that repeat earlier submissions.
extension Runtime {
  /// Answers the items of a batch with the calls that they repeat, as they are now and as lists show them, because a
  /// batch has many items and each response may be large.
  ///
  /// These calls are accepted, so this is not refused if too many queries wait. After each page other queries get
  /// their chance.
  func readReplays(of batch: any BatchAnswering) {
    queries.runOwed { [self] in
      let page = batch.replays.next()
      if page.isEmpty { return }
      do {
        for (item, stored) in zip(page, try reader.records(of: page.map(\.id))) {
          switch stored {
          case .success(let record):
            batch.answer(item.index, id: item.id, status: 202, replayed: true) {
              CallView.write(
                record, attempts: [], wait: standings.wait(of: record, at: clock.now), detail: .summary,
                redaction: redaction, to: &$0)
            }
          case .failure(let error): batch.answer(item.index, problem(of: error))
          case nil: batch.answer(item.index, Answer.noSuchCall(item.id))
          }
        }
      } catch {
        let problem = problem(of: error)
        for item in page { batch.answer(item.index, problem) }
      }
      readReplays(of: batch)
    }
  }
}
