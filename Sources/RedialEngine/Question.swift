/// A question to an engine: what reads it, and who gets the answer. A step of the engine answers it, so it sees all that
/// happened before.
package struct Question: Sendable {
  /// Asks an engine. The result tells the answer to whoever has asked, once the step is over.
  let ask: @Sendable (inout Engine) -> @Sendable () -> Void

  /// Creates a question.
  ///
  /// - Parameters:
  ///   - ask: Reads the engine, during a step.
  ///   - then: Called with the answer, after the step.
  package init<Answer: Sendable>(
    _ ask: @escaping @Sendable (inout Engine) -> Answer, then: @escaping @Sendable (Answer) -> Void
  ) {
    self.ask = { engine in
      let answer = ask(&engine)
      return { then(answer) }
    }
  }
}
