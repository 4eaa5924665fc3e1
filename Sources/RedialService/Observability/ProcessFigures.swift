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
    if let time = startTime() {
      families.append(
        MetricFamily("process_start_time_seconds", .gauge, "When the process began, in seconds since 1970.", time))
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

  /// When the process began, in seconds since 1970; nil if unavailable. The kernel counts from its own start
  /// (proc_pid_stat(5), proc_stat(5)).
  static func startTime() -> Double? {
    guard let process = FileContents.read("/proc/self/stat"), let system = FileContents.read("/proc/stat") else {
      return nil
    }
    // The second field is the name of the program in parentheses, in which anything may stand.
    let fields = String(decoding: process, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
    let boot = String(decoding: system, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("btime ") }
    guard fields.count > 19, let ticks = Double(fields[19]), let since = boot.flatMap({ Double($0.dropFirst(6)) })
    else { return nil }
    return since + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
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
