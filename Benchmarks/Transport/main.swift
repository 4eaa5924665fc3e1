// What a call costs in the transport, beside what it costs in a loop around libcurl's multi interface that does nothing
// else: CPU of this process, in alternating rounds against the same nginx. Then how fast targets fare beside slow ones.

import CCurl
import Foundation
import RedialCore
import RedialModel
import RedialTransport
import Synchronization

let callsPerRound = 20_000
let concurrency = 64
let rounds = 9
let body = [UInt8](repeating: UInt8(ascii: "x"), count: 600)

func cpuMicroseconds() -> Double {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  func value(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
  return value(usage.ru_utime) + value(usage.ru_stime)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// A free port, which nobody else is likely to take within a moment.
func freePort() -> Int {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, length)
      getsockname(descriptor, $0, &length)
    }
  }
  return Int(address.sin_port.bigEndian)
}

/// An nginx that answers at once, for as long as this process lives.
final class Target {
  let url: String
  private let process = Process()
  private let leash = Pipe()

  init() throws {
    let port = freePort()
    url = "http://127.0.0.1:\(port)/"
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("redial-bench-\(getpid())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
    let text = """
      daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/log;
      events { worker_connections 4096; }
      http {
        access_log off; keepalive_requests 1000000; \(temporary.joined(separator: " "))
        server { listen 127.0.0.1:\(port) backlog=4096; location / { return 200 "ok"; } }
      }
      """
    try text.write(toFile: "\(folder)/conf", atomically: true, encoding: .utf8)
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c",
      "PATH=$PATH:/usr/sbin; nginx -p \(folder) -c \(folder)/conf -e \(folder)/log </dev/null & "
        + "cat >/dev/null; kill -9 $!; wait $!; rm -rf \(folder)",
    ]
    process.standardInput = leash
    try process.run()
    usleep(500_000)
  }
}

/// A listener at 127.0.0.HOST that takes connections and never answers.
func silentURL(host: UInt32) -> String {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = (0x7F00_0000 | host).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, length)
      listen(descriptor, 4096)
      getsockname(descriptor, $0, &length)
    }
  }
  return "http://127.0.0.\(host):\(Int(address.sin_port.bigEndian))/"
}

/// The least that a program around libcurl can do: handles that are set up once, added again as they end.
func bareRound(_ url: String) -> Double {
  let before = cpuMicroseconds()
  guard let multi = curl_multi_init() else { return .nan }
  var handles: [UnsafeMutableRawPointer] = []
  var fields: UnsafeMutablePointer<curl_slist>?
  // The very header that the transport sends.
  for line in [
    "Content-Type: text/plain", "Idempotency-Key: call_0123456789", "Redial-Call-Id: call_0123456789",
    "Redial-Attempt: 1", "User-Agent: redial/benchmark", "Accept-Encoding: gzip, deflate", "Accept:", "Expect:",
  ] {
    fields = curl_slist_append(fields, line)
  }
  for _ in 0..<concurrency {
    guard let handle = curl_easy_init() else { return .nan }
    _ = redial_curl_set_text(handle, CURLOPT_URL, url)
    _ = redial_curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
    _ = redial_curl_set_headers(handle, fields)
    _ = redial_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
    body.withUnsafeBytes { _ = redial_curl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
    _ = redial_curl_set_sink(handle, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }
    curl_multi_add_handle(multi, handle)
    handles.append(handle)
  }
  var (begun, ended) = (concurrency, 0)
  while ended < callsPerRound {
    var running: Int32 = 0
    curl_multi_perform(multi, &running)
    var code = CURLE_OK
    while let handle = redial_curl_multi_next_done(multi, &code) {
      precondition(code == CURLE_OK, "the bare loop failed: \(code)")
      ended += 1
      curl_multi_remove_handle(multi, handle)
      if begun < callsPerRound {
        begun += 1
        curl_multi_add_handle(multi, handle)
      }
    }
    if ended < callsPerRound { curl_multi_poll(multi, nil, 0, 1000, nil) }
  }
  let spent = cpuMicroseconds() - before
  for handle in handles { curl_easy_cleanup(handle) }
  curl_multi_cleanup(multi)
  curl_slist_free_all(fields)
  return spent / Double(callsPerRound)
}

func request(_ id: Int, _ url: String) -> TransportRequest {
  TransportRequest(
    id: UInt64(id), url: url, method: "POST",
    headers: [
      HeaderField("Content-Type", "text/plain"), HeaderField("Idempotency-Key", "call_0123456789"),
      HeaderField("Redial-Call-Id", "call_0123456789"), HeaderField("Redial-Attempt", "1"),
    ],
    body: body, timeout: .seconds(30), captureLimit: 65_536)
}

/// Calls through a transport, and how long each took, in microseconds.
final class Run: Sendable {
  private struct State {
    var begun = 0
    var durations: [Int64] = []
  }
  private let state = Mutex(State())
  private let finished = DispatchSemaphore(value: 0)
  private let url: String
  let transport: Transport

  init(_ url: String) throws {
    self.url = url
    var configuration = TransportConfiguration(userAgent: "redial/benchmark")
    configuration.egress = EgressPolicy(reachesLoopback: true)
    configuration.maxIdleConnections = 4096
    let relay = Relay()
    transport = try Transport(configuration: configuration) { relay.take($0) }
    relay.handler.withLock { $0 = Relay.Handler { [unowned self] results in self.ended(results) } }
  }

  func run() -> (cpu: Double, durations: [Int64]) {
    state.withLock { $0 = State(begun: concurrency, durations: []) }
    let before = cpuMicroseconds()
    transport.start((0..<concurrency).map { request($0, url) })
    finished.wait()
    return ((cpuMicroseconds() - before) / Double(callsPerRound), state.withLock { $0.durations })
  }

  private func ended(_ results: [Transport.Ended]) {
    let next: [TransportRequest] = state.withLock { state in
      var next: [TransportRequest] = []
      for (id, result) in results where id < 1 << 32 {
        precondition(result.status == 200, "the transport failed: \(String(describing: result.failure))")
        state.durations.append(result.duration.wholeMicroseconds)
        if state.begun < callsPerRound {
          next.append(request(state.begun, url))
          state.begun += 1
        }
      }
      return next
    }
    if !next.isEmpty { transport.start(next) }
    if state.withLock({ $0.durations.count }) == callsPerRound { finished.signal() }
  }
}

/// Hands results to whoever is there.
final class Relay: Sendable {
  /// In a struct of its own: a bare closure would be wrapped once more each time that it is taken out of the lock.
  struct Handler: Sendable {
    var take: @Sendable ([Transport.Ended]) -> Void
  }

  let handler = Mutex<Handler?>(nil)
  func take(_ results: [Transport.Ended]) { handler.withLock { $0 }?.take(results) }
}

signal(SIGPIPE, SIG_IGN)
curl_global_init(Int(CURL_GLOBAL_DEFAULT))
let target = try Target()
let run = try Run(target.url)
_ = bareRound(target.url)
_ = run.run()
var (bare, ours, ratios) = ([Double](), [Double](), [Double]())
for _ in 0..<rounds {
  let floor = bareRound(target.url)
  let cost = run.run().cpu
  bare.append(floor)
  ours.append(cost)
  ratios.append(cost / floor)
}
func shown(_ value: Double) -> String { String(format: "%.2f", value) }
print("transport, CPU a call (POST of 600 bytes, \(concurrency) at a time, medians of \(rounds) rounds)")
print("  bare libcurl multi loop   \(shown(median(bare))) us")
print("  RedialTransport           \(shown(median(ours))) us")
print("  ratio                     \(shown(median(ratios)))   (goal: at most 1.2)")

func percentile(_ values: [Int64], _ share: Double) -> Int64 {
  values.isEmpty ? 0 : values.sorted()[min(values.count - 1, Int(Double(values.count) * share))]
}
let alone = run.run()
// Over fifty hosts, as slow targets are: a single one would be held to its share of the attempts.
let slow = (2..<52).map { silentURL(host: $0) }
run.transport.start((0..<1000).map { request(1 << 32 + $0, slow[$0 % slow.count]) })
usleep(500_000)
let beside = run.run()
func report(_ what: String, _ result: (cpu: Double, durations: [Int64])) {
  let (half, most) = (percentile(result.durations, 0.5), percentile(result.durations, 0.99))
  print("  \(what)  p50 \(half) us  p99 \(most) us  CPU \(shown(result.cpu)) us")
}
print("fast targets")
report("alone                  ", alone)
report("beside 1,000 slow calls", beside)
