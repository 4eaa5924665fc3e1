internal import CAllocations

/// Prints the nanoseconds and allocations of one run of `body`: the median of six rounds of `count` runs, after one that
/// warms up.
///
/// - Parameter body: Takes the number of the run; its results are summed, so that none is thought away.
public func measure(_ name: String, count: Int, _ body: (Int) -> Int) {
  var nanoseconds: [Double] = []
  var allocations = 0.0
  var sum = 0
  for round in 0..<7 {
    let before = redial_allocations()
    let start = ContinuousClock.now
    for index in 0..<count { sum &+= body(index) }
    let took = ContinuousClock.now - start
    // The first round warms up.
    if round == 0 { continue }
    allocations = Double(redial_allocations() - before) / Double(count)
    let (seconds, attoseconds) = took.components
    nanoseconds.append((Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(count))
  }
  nanoseconds.sort()
  let padded = name.padding(to: 42)
  print("\(padded)\((nanoseconds[nanoseconds.count / 2] * 10).rounded() / 10) ns   \(allocations) allocations")
  // What is computed must not be thought away.
  if sum == .min { print(sum) }
}

extension String {
  fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
