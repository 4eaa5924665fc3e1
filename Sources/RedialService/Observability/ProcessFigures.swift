internal import Glibc

/// The resources of the process, under the names that Prometheus client libraries share.
enum ProcessFigures {
  /// The lines of the text exposition format; an unavailable figure is left out.
  static func exposition() -> String {
    var text = ""
    var usage = rusage()
    if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
      let seconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
      text += "# HELP process_cpu_seconds_total User and system CPU time.\n"
      text += "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total \(seconds)\n"
    }
    if let bytes = residentBytes() {
      text += "# HELP process_resident_memory_bytes Resident memory.\n"
      text += "# TYPE process_resident_memory_bytes gauge\n"
      text += "process_resident_memory_bytes \(bytes)\n"
    }
    if let descriptors = openDescriptors() {
      text += "# HELP process_open_fds Open file descriptors.\n"
      text += "# TYPE process_open_fds gauge\nprocess_open_fds \(descriptors)\n"
    }
    return text
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
