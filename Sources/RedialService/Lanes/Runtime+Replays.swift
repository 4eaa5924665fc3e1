internal import RedialModel
internal import RedialStore

/// The items of batches that repeat what was accepted before.
extension Runtime {
  /// Answers the items of a batch with the calls that they repeat, as they stand now and as lists show them: a batch has
  /// many, and what each was answered with may be large.
  ///
  /// The calls are accepted, so that it is not refused for the queries that wait; after each page it is the others' turn.
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
