import Redial

/// `weather [STATION …]` prints the temperature at each station, and what it took to find out.
@main
struct Weather {
  static func main() async {
    let stations = Array(CommandLine.arguments.dropFirst())
    let client = WeatherClient(StationNetwork())
    let events = client.events.stream()
    let log = Task {
      for await event in events { print("  \(event.line)") }
    }
    for station in stations.isEmpty ? ["Bergen", "Oslo", "Svalbard", "Svalbard", "Atlantis"] : stations {
      print(await report(station, from: client))
    }
    client.events.finish()
    await log.value
  }

  /// What to say about a station, whatever happens.
  private static func report(_ station: String, from client: WeatherClient) async -> String {
    do {
      return "\(station): \(try await client.temperature(at: station)) °C"
    } catch let error as RetryError {
      switch error.reason {
      case .tripped, .recovering: return "\(station): its line is down; ask again in \(error.retryAfter ?? .zero)"
      case .notRetryable: return "\(station): there is no such station"
      case .attemptsExhausted, .deadlineExceeded, .budgetExhausted, .cancelled: return "\(station): no answer for now"
      }
    } catch {
      return "\(station): cancelled"
    }
  }
}
