internal import RedialModel

/// Decides which streams of events of other instances are needed, and when listeners have missed events of one.
///
/// A namespace is followed while clients of this instance listen to it: then each other instance sends its events. A
/// stream that breaks is opened again after its last event, so that nothing is missed if the other instance still has the
/// events that follow.
struct RelayTable: Sendable {
  /// The events of one namespace from one instance.
  struct Stream: Sendable, Hashable {
    /// The instance's session.
    let session: Int64
    let namespace: Namespace
  }

  /// One connection for a stream.
  struct Opening: Sendable, Hashable {
    let stream: Stream
    /// The URL of the instance.
    let address: String
    /// Tells it apart from earlier ones.
    let number: Int
    /// The last event that was received; nil to begin with what happens from now on.
    let last: String?
    /// How long to wait before.
    let pause: Duration
  }

  /// What to do.
  enum Step: Sendable, Equatable {
    case open(Opening)
    /// The events of all instances arrive from now on.
    case whole(Namespace)
    /// Events were or may have been missed.
    case missed(Namespace)
  }

  private struct Place: Sendable {
    var address: String
    var number: Int
    var last: String?
    /// Whether it has ever been established.
    var wasEstablished = false
    /// How often in a row it could not be opened.
    var failures = 0
  }

  /// The first pause before a stream is opened again, and the longest.
  private static let (firstPause, longestPause) = (Duration.milliseconds(50), Duration.seconds(5))

  private var instances: [Int64: String] = [:]
  private var followed: Set<Namespace> = []
  /// The followed namespaces whose listeners wait until all streams are established.
  private var awaited: Set<Namespace> = []
  private var places: [Stream: Place] = [:]
  private var lastNumber = 0

  /// Begins to follow a namespace. One ``Step/whole(_:)`` follows, now or later.
  mutating func follow(_ namespace: Namespace) -> [Step] {
    guard followed.insert(namespace).inserted else { return awaited.contains(namespace) ? [] : [.whole(namespace)] }
    awaited.insert(namespace)
    let opened = instances.map { open(Stream(session: $0, namespace: namespace), at: $1) }
    return opened + reportIfWhole(namespace)
  }

  /// Stops to follow a namespace.
  mutating func unfollow(_ namespace: Namespace) {
    followed.remove(namespace)
    awaited.remove(namespace)
    places = places.filter { $0.key.namespace != namespace }
  }

  /// Stops to follow all.
  mutating func unfollowAll() {
    for namespace in followed { unfollow(namespace) }
  }

  /// Takes the URLs of the other instances, by session.
  mutating func meet(_ instances: [Int64: String]) -> [Step] {
    let before = self.instances
    self.instances = instances
    var steps: [Step] = []
    for session in before.keys where instances[session] == nil {
      for namespace in followed {
        guard let place = places.removeValue(forKey: Stream(session: session, namespace: namespace)) else { continue }
        // Its last events may not have been sent.
        if place.wasEstablished { steps += [.missed(namespace)] }
        steps += reportIfWhole(namespace)
      }
    }
    for (session, address) in instances where before[session] == nil {
      for namespace in followed { steps.append(open(Stream(session: session, namespace: namespace), at: address)) }
    }
    return steps
  }

  /// Whether a connection is still needed.
  func needs(_ opening: Opening) -> Bool { places[opening.stream]?.number == opening.number }

  /// A connection is established: the events of its stream arrive.
  mutating func established(_ opening: Opening) -> [Step] {
    guard needs(opening), var place = places[opening.stream] else { return [] }
    let isFirst = !place.wasEstablished
    (place.wasEstablished, place.failures) = (true, 0)
    places[opening.stream] = place
    let namespace = opening.stream.namespace
    if awaited.contains(namespace) { return reportIfWhole(namespace) }
    // What the instance did before is missed: it has joined since, or could not be reached.
    return isFirst ? [.missed(namespace)] : []
  }

  /// A connection has ended, or could not be made.
  ///
  /// - Parameters:
  ///   - last: The last event that was received.
  ///   - wasEstablished: Whether there was a connection.
  mutating func ended(_ opening: Opening, after last: String?, wasEstablished: Bool) -> [Step] {
    guard needs(opening), var place = places[opening.stream] else { return [] }
    lastNumber += 1
    place.number = lastNumber
    if let last { place.last = last }
    place.failures = wasEstablished ? 0 : place.failures + 1
    places[opening.stream] = place
    let pause = min(Self.firstPause * (1 << min(place.failures, 10)), Self.longestPause)
    let again = Step.open(
      Opening(
        stream: opening.stream, address: place.address, number: place.number, last: place.last, pause: pause))
    // One broken connection loses nothing. If it cannot be replaced, listeners must know.
    guard place.failures == 1 else { return [again] }
    let namespace = opening.stream.namespace
    return [again] + (place.wasEstablished ? [.missed(namespace)] : []) + reportIfWhole(namespace)
  }

  /// An instance has said that it left events out.
  func missed(_ opening: Opening) -> [Step] { needs(opening) ? [.missed(opening.stream.namespace)] : [] }

  /// The streams of a namespace are no longer waited for.
  mutating func giveUp(_ namespace: Namespace) -> [Step] {
    awaited.remove(namespace) == nil ? [] : [.whole(namespace)]
  }

  private mutating func open(_ stream: Stream, at address: String) -> Step {
    lastNumber += 1
    places[stream] = Place(address: address, number: lastNumber)
    return .open(Opening(stream: stream, address: address, number: lastNumber, last: nil, pause: .zero))
  }

  /// Reports a namespace whose streams are all established or have failed once.
  private mutating func reportIfWhole(_ namespace: Namespace) -> [Step] {
    let waits = places.contains { $0.key.namespace == namespace && !$0.value.wasEstablished && $0.value.failures == 0 }
    guard !waits, awaited.remove(namespace) != nil else { return [] }
    return [.whole(namespace)]
  }
}
