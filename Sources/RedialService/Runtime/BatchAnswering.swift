internal import HTTPServer
internal import RedialModel
internal import RedialJSON

/// Collects the results of calls that were submitted together. Any thread may report a result.
protocol BatchAnswering: AnyObject, Sendable {
  /// Leads to the event loop of its client.
  var responder: HTTPResponder { get }
  /// Its items that repeat earlier submissions, until they are read.
  var replays: ReplayQueue { get }

  /// Answers one item with a call.
  ///
  /// - Parameters:
  ///   - index: The item's position, from 0.
  ///   - repetition: What the item has done, if its call was accepted before; nil for a new call.
  ///   - call: Writes the call as one object.
  func answer(
    _ index: Int, id: CallID, status: Int, repetition: IdempotencyStatus?, call: (inout JSONWriter) -> Void)

  /// Answers one item with a problem.
  func answer(_ index: Int, _ problem: Problem)
}
