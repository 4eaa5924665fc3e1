import Foundation
import FoundationNetworking

@main struct FetchingCommand {
  static func main() async {
    guard let url = URL(string: CommandLine.arguments[1]) else { return }
    do {
      let (data, _) = try await URLSession.shared.data(for: URLRequest(url: url))
      print("\(data.count) bytes")
    } catch {
      print((error as? URLError)?.code == .cannotConnectToHost ? "cannot connect" : "\(error)")
    }
  }
}
