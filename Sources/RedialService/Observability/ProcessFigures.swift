internal import Glibc

/// The resources of the process, under the names that Prometheus client libraries share.
enum ProcessFigures {
  /// The metrics; an unavailable figure is left out.
  static var families: [MetricFamily] {
    var families: [MetricFamily] = []
    var usage = rusage()
    if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
      let seconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
      families.append(MetricFamily("process_cpu_seconds_total", .counter, "User and system CPU time.", seconds))
    }
    if let bytes = residentBytes() {
      families.append(MetricFamily("process_resident_memory_bytes", .gauge, "Resident memory.", bytes))
    }
    if let descriptors = openDescriptors() {
      families.append(MetricFamily("process_open_fds", .gauge, "Open file descriptors.", descriptors))
    }
    return families
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
  }

  /// Resident memory in bytes; nil if unavailable.
  static func residentBytes() -> Int? {
    guard let bytes = FileContents.read("/proc/self/statm") else { return nil }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static func openDescriptors() -> Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    // Without ".", ".." and the descriptor that reads the folder.
    var count = -3
    while readdir(folder) != nil { count += 1 }
    return count
  }
}
