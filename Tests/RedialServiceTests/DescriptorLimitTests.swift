import RedialEngine
import RedialTransport
import Testing

@testable import RedialService

@Suite("File descriptors")
struct DescriptorLimitTests {
  @Test("settings within the limit are unchanged")
  func fits() {
    let (settings, lowered) = DescriptorLimit(count: 65_536).bounded(ServiceSettings())
    #expect(lowered.isEmpty)
    #expect(settings.maxConnections == ServiceSettings().maxConnections)
  }

  @Test("settings beyond the limit are lowered and reported", arguments: [20, 65, 80, 200, 256, 1024, 4096, 10_000])
  func lowered(count: Int) {
    let (settings, lowered) = DescriptorLimit(count: count).bounded(ServiceSettings())
    #expect(lowered.contains { $0.setting.description == "maxConnections" && $0.to == settings.maxConnections })
    let sum = settings.maxConnections + settings.engine.maxInFlight + settings.transport.maxIdleConnections
    let lookups = DescriptorLimit.lookup * settings.transport.maxLookups
    #expect(sum <= max(4, count - DescriptorLimit.reserve - lookups))
    #expect(lookups <= max(DescriptorLimit.lookup, (count - DescriptorLimit.reserve) / 8))
    #expect(min(settings.maxConnections, settings.engine.maxInFlight, settings.transport.maxIdleConnections) >= 1)
  }

  @Test("the limit is raised as far as possible")
  func raised() {
    #expect(DescriptorLimit.raised().count >= DescriptorLimit.raised().count)
    #expect(DescriptorLimit.raised().count > DescriptorLimit.reserve)
  }
}
