import Foundation
import RedialClient

@main struct ClientCommand {
  static func main() async {
    guard let url = URL(string: CommandLine.arguments[1]) else { return }
    do {
      print(try await RedialClient(url).call("call_0000000000000").state)
    } catch {
      print(error.localizedDescription)
    }
  }
}
