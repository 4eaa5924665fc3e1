import Foundation
import Redial

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// `uses URL` makes each of the five uses go wrong as it is meant for, and prints how that ends.
@main
struct UsesCommand {
  static func main() async throws {
    let uses = Uses()
    print("version: \(redialVersion)")

    let (first, second) = (Counter(), Counter())
    print("try again: \(try await uses.tryAgain { try first.fail(2, NoConnection()) })")
    do {
      _ = try await uses.tryAgain { try second.fail(9, Refused()) }
    } catch is Refused {
      print("try again: refused at attempt \(second.count)")
    }

    let slow = Counter()
    let answer = try await uses.bounded {
      if slow.next() == 1 { try await Task.sleep(for: .seconds(60)) }
      return "attempt \(slow.count)"
    }
    print("bounded: \(answer)")

    uses.breakers[uses.host].trip()
    do {
      _ = try await uses.guarded { "asked" }
    } catch let error as RetryError {
      print("guarded: \(error.reason)")
    }
    uses.breakers[uses.host].reset()
    print("guarded: \(try await uses.guarded { "asked" })")

    if let url = CommandLine.arguments.dropFirst().first.flatMap({ URL(string: $0) }) {
      let began = ContinuousClock.now
      let data = try await uses.load(URLRequest(url: url))
      let isPatient = ContinuousClock.now - began >= .seconds(1)
      print("load: \(String(decoding: data, as: UTF8.self)), \(isPatient ? "as late as asked" : "too early")")
    }

    let failing = Counter()
    print("fallback: \(try await uses.withFallback { try failing.fail(9, NoConnection()) }) after \(failing.count)")
  }
}
