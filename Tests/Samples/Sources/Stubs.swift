import Foundation
#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif
import Redial
import RedialLegacy
import Testing

// What the samples of the documentation take for granted: an application around them.

/// Holds the text of a value against what a sample says it is: `expression  // → value`. Samples leave out `Optional`,
/// and the module and type of an enumeration's case.
func expectText<Value>(_ value: Value?, _ text: String, _ location: SourceLocation = #_sourceLocation) {
  let full = value.map { "\($0)" } ?? "nil"
  let shown = full.replacing(/\b(?:Redial|RedialCore)\.(?:(?:\w+\.)+(?=[a-z]))?/, with: "")
  #expect(shown == text, sourceLocation: location)
}

struct User: Sendable, Equatable {
  var name = "Ada"
}

struct Invoice: Sendable {
  var cents = 4200
}

func fetchUser() async throws -> User { User() }

func fetchInvoice() async throws -> Invoice { Invoice() }

func show(_ values: Any...) {}

/// A client of callbacks.
struct CallbackClient: Sendable {
  func send(_ request: URLRequest, then report: @Sendable (Error?) -> Void) { report(nil) }
}

/// A connection that can be tried out.
struct Connection: Sendable {
  func ping(then report: @Sendable (Error?) -> Void) { report(nil) }
}

/// Reports changes of the network.
struct Reachability: Sendable {
  var updates: AsyncStream<Bool> { AsyncStream { $0.finish() } }
}

let client = CallbackClient()
let connection = Connection()
let breaker = SharedCircuitBreaker()
let breakers = SharedRegistry { host in SharedCircuitBreaker(name: host) }
let budgets = SharedRegistry<String, SharedRetryBudget> { _ in SharedRetryBudget(.finagle) }
let now = Timestamp.epoch
let elapsed = Duration.milliseconds(30)
let queue = OperationQueue()
let operation = RetryingOperation()
let reachability = Reachability()
// A service and a target that the tests have started.
let serviceURL = started("SAMPLES_SERVICE")
let chargesURL = started("SAMPLES_TARGET")
let session = URLSession(configuration: .ephemeral)
let request = URLRequest(url: chargesURL)

func started(_ name: String) -> URL {
  let text = ProcessInfo.processInfo.environment[name] ?? ""
  guard let url = URL(string: text) else { fatalError("\(name) is no URL: \(text)") }
  return url
}

/// Tokens that can be renewed.
actor Tokens {
  var current = "secret"
  func renew() -> Bool { true }
}

/// A file that takes what it is given.
struct File {
  func write(_ chunk: Data) {}
}

let tokens = Tokens()
let file = File()
let url = "https://api.example.com/file"

func load(then report: @escaping @Sendable (Bool) -> Void) { report(true) }

func giveUp() {}

func refuse() {}

/// An operation of somebody else's.
final class Download: Operation, @unchecked Sendable {
  let url: String
  var hasFailed: Bool { false }
  init(_ url: String) { self.url = url }
}
