import Foundation
import FoundationNetworking
import Redial

@main struct RetryingCommand {
  static func main() async {
    guard let url = URL(string: CommandLine.arguments[1]) else { return }
    do {
      let (data, _) = try await URLSession.shared.data(for: URLRequest(url: url), retrying: .maxAttempts(2))
      print("\(data.count) bytes")
    } catch {
      print(error.localizedDescription)
    }
  }
}
