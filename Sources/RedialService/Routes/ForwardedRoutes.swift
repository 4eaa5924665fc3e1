internal import HTTPServer
internal import RedialEngine
internal import RedialModel

/// Submissions that another instance forwards to the owner of their targets.
struct ForwardedRoutes: RouteGroup {
  let engine: EngineLane
  let intake: Intake
  let keys: KeyRing

  /// Maximum number of submissions in a request.
  private static let most = SubmissionBatches<Int, Int>.Limits().batch

  var routes: [Route] { [Route(.post, ForwardLane.path, .scope(.submit), server: .peer, serve: submit)] }

  private func submit(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    guard let descriptors = ForwardedCoding.descriptors(request.content, atMost: Self.most) else {
      throw Problem(
        .invalidForward,
        detail: "The instance that has sent them may be of another version. It stores them itself.")
    }
    let answer = ForwardedAnswer(count: descriptors.count, to: exchange.responder)
    for (index, descriptor) in descriptors.enumerated() {
      if let problem = descriptor.apiKey.flatMap(keys.refusal(ofRevoked:)) {
        answer.answer(index, .refused(.found(problem)))
      } else {
        engine.deferEvent(intake.event(descriptor, of: .forwarded(answer, index: index)))
      }
    }
  }
}
