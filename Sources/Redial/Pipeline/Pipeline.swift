/// Parts around work, composed in order: the first is the outermost.
///
/// ```swift
/// let limit = ConcurrencyLimit(20, maxWaiting: 100)
/// let pipeline = Pipeline<User>()
///   .fallback { _ in User(name: "somebody") }  // when all else has failed
///   .with(Timeout(.seconds(10)))               // for the whole, waits included
///   .with(Retrier(.aws))                       // each attempt goes through what follows
///   .with(breaker)                             // counts attempts, not calls
///   .with(limit)
///   .with(Timeout(.seconds(2)))                // for each attempt
/// let user = try await pipeline.run { try await fetchUser() }
/// ```
///
/// A breaker outside of the retrier would count whole calls, and a timeout inside limits one attempt. Keep breakers,
/// limits and budgets as long as the program runs: all that refer to them share them. A pipeline is a value, created
/// once or for each call.
public struct Pipeline<Value: Sendable>: Sendable {
  /// Work that a pipeline runs.
  public typealias Work = @Sendable () async throws -> Value

  private let wrapped: @Sendable (@escaping Work) -> Work

  /// An empty pipeline.
  public init() { wrapped = { $0 } }

  private init(wrapped: @escaping @Sendable (@escaping Work) -> Work) { self.wrapped = wrapped }

  /// The pipeline with another part, inside the existing ones.
  public func with(_ part: some PipelinePart) -> Pipeline {
    Pipeline { [wrapped] work in wrapped { try await part.perform(work) } }
  }

  /// The pipeline with a value that replaces an error of the later parts and of the work.
  ///
  /// - Parameters:
  ///   - condition: For which errors. A cancellation is never replaced.
  ///   - name: Its name in events.
  ///   - events: Receives an event when an error is replaced.
  ///   - value: The value; it may throw the error, or another.
  public func fallback(
    if condition: @escaping @Sendable (any Error) -> Bool = { _ in true }, name: String = "fallback",
    events: (any RetryObserver)? = nil, _ value: @escaping @Sendable (any Error) async throws -> Value
  ) -> Pipeline {
    Pipeline { [wrapped] work in
      wrapped {
        do {
          return try await work()
        } catch let error where !(error is CancellationError) && condition(error) {
          let replacement = try await value(error)
          events?.tell(.fellBack(name: name, error: error))
          return replacement
        }
      }
    }
  }

  /// Runs work inside of all parts.
  ///
  /// - Throws: The error of the outermost part.
  public func run(_ work: @escaping Work) async throws -> Value { try await wrapped(work)() }
}

/// A part of a ``Pipeline``. Each can also be used alone.
public protocol PipelinePart: Sendable {
  /// Runs work once, more than once or not at all.
  func perform<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value
}

extension Retrier: PipelinePart {
  /// Runs work until it succeeds; like `run`. The work finds its attempt in ``RetryAttempt/current``.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await carried(isolation: nil) { attempt in
      try await RetryAttempt.local.withValue(attempt) { try await work() }
    }
  }
}

extension SharedCircuitBreaker: PipelinePart {
  /// Runs work once; like ``run(outcome:_:)``.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await run(work)
  }
}
