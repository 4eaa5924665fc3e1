/// Parts around work, composed by their order: the first is the outermost.
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
/// A breaker outside of the retrier would count whole calls, and a timeout inside bounds one attempt. Keep breakers,
/// limits and budgets for as long as the program runs: they are shared by all that refer to them. A pipeline is a value,
/// made once or for each call.
public struct Pipeline<Value: Sendable>: Sendable {
  /// Work that a pipeline runs.
  public typealias Work = @Sendable () async throws -> Value

  private let wrapped: @Sendable (@escaping Work) -> Work

  /// A pipeline that adds nothing.
  public init() { wrapped = { $0 } }

  private init(wrapped: @escaping @Sendable (@escaping Work) -> Work) { self.wrapped = wrapped }

  /// The pipeline with a part inside of those that it has.
  public func with(_ part: some PipelinePart) -> Pipeline {
    Pipeline { [wrapped] work in wrapped { try await part.perform(work) } }
  }

  /// The pipeline with a value in the place of an error of the parts that follow and of the work.
  ///
  /// - Parameters:
  ///   - condition: For which errors. A cancellation is never replaced.
  ///   - value: The value; it may throw the error, or another.
  public func fallback(
    if condition: @escaping @Sendable (any Error) -> Bool = { _ in true },
    _ value: @escaping @Sendable (any Error) async throws -> Value
  ) -> Pipeline {
    Pipeline { [wrapped] work in
      wrapped {
        do {
          return try await work()
        } catch let error where !(error is CancellationError) && condition(error) {
          return try await value(error)
        }
      }
    }
  }

  /// Runs work inside of all parts.
  ///
  /// - Throws: What the outermost part makes of it.
  public func run(_ work: @escaping Work) async throws -> Value { try await wrapped(work)() }
}

/// A part of a ``Pipeline``. Each is of use alone, too.
public protocol PipelinePart: Sendable {
  /// Runs work once, more than once or not at all.
  func perform<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value
}

extension Retrier: PipelinePart {
  /// Runs work until it succeeds; as ``run(isolation:_:)``.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await carried(isolation: nil) { _ in try await work() }
  }
}

extension SharedCircuitBreaker: PipelinePart {
  /// Runs work once; as ``run(outcome:_:)``.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await run(work)
  }
}
