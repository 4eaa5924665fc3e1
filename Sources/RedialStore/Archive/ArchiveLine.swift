package import RedialCore
package import RedialJSON
internal import RedialModel

/// A line of an archive, the form in which a store travels: a header, what is about no call, the calls by age, and an end that
/// says how much was before it.
///
/// Each line is an object of JSON with its checksum. Archives that have only calls, such as those of earlier versions, need
/// neither header nor end.
package enum ArchiveLine: Sendable {
  case header
  /// The key of the sealed lines behind it.
  case key(StoredDataKey)
  case item(StoreItem)
  case call(ArchivedCall)
  case end(Totals)

  /// How many lines of which kind are before the end.
  package struct Totals: Sendable, Hashable {
    package var items = 0
    package var calls = 0

    /// None.
    package init() {}
  }

  /// The version of the format. An archive of a higher one is refused.
  static let format: Int64 = 1

  /// One JSON object, without a line break.
  package var json: [UInt8] {
    if case .call(let call) = self { return call.json }
    var writer = JSONWriter()
    writer.beginObject()
    switch self {
    case .header:
      writer.key("archive")
      writer.integer(Self.format)
    case .key(let key):
      writer.key("archiveKey")
      key.save(to: &writer)
    case .item(let item): item.write(to: &writer)
    case .call: break
    case .end(let totals):
      writer.key("end")
      writer.beginObject()
      writer.field("items", totals.items)
      writer.field("calls", totals.calls)
      writer.endObject()
    }
    LineChecksum.end(&writer)
    return writer.bytes
  }

  /// Reads what ``json`` wrote. An unknown member is an error, and so is a missing one: neither a newer archive nor a damaged
  /// one is misread.
  ///
  /// - Parameters:
  ///   - now: The time of the wall clock. An id of a later day is an error, because all ids made until then would have to be
  ///     higher.
  ///   - opener: Opens sealed lines; nil if the archive's key was not read yet.
  /// - Throws: What is wrong, with the member's name.
  package static func read(
    _ line: UnsafeBufferPointer<UInt8>, at now: Timestamp, _ opener: ArchiveOpener? = nil
  ) throws(JSONError) -> ArchiveLine {
    var first = JSONReader(line)
    try first.beginObject()
    let name = try first.nextKey()
    if name == "sealed" {
      let sealed = try ArchiveReader.read(line, at: now) { (reader) throws(JSONError) in try reader.sealed() }
      guard let opener else {
        throw JSONError(offset: 0, reason: "the line is encrypted, and the archive's key is not before it")
      }
      guard let plain = opener.opened(sealed) else {
        throw JSONError(offset: 0, reason: "the line was changed: it does not open with the archive's key")
      }
      return try plain.withUnsafeBufferPointer { plain throws(JSONError) in try read(plain, at: now) }
    }
    guard name == "archive" || name == "archiveKey" || name == "end" || name.flatMap(StoreItem.Kind.init) != nil else {
      return .call(try ArchivedCall.read(line, at: now))
    }
    return try ArchiveReader.read(line, at: now) { (reader) throws(JSONError) in try reader.line() }
  }
}

extension StoreItem {
  fileprivate func write(to writer: inout JSONWriter) {
    switch self {
    case .setting(let name, let value):
      writer.field("setting", name)
      writer.field("value", value)
    case .document(let document):
      writer.field("document", document.kind.rawValue)
      writer.field("id", document.id)
      if document.content.withUnsafeBufferPointer(Self.isJSON) {
        writer.key("content")
        writer.raw(document.content)
      } else {
        writer.field("bytes", Base64.encode(document.content))
      }
    case .target(let key, let record):
      writer.field("target", key.text)
      writer.key("record")
      writer.raw(record.bytes)
    case .counts(let counts):
      writer.field("counts", "\(counts.step)")
      writer.field("namespace", counts.namespace.name)
      writer.key("start")
      writer.integer(counts.start.microseconds)
      writer.key("numbers")
      writer.beginArray()
      for number in counts.numbers { writer.integer(number) }
      writer.endArray()
    }
  }

  /// Whether bytes are a JSON value of one line, which is written as it is.
  private static func isJSON(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = bytes.first, let last = bytes.last, first == UInt8(ascii: "{"), last == UInt8(ascii: "}"),
      !bytes.contains(UInt8(ascii: "\n"))
    else { return false }
    return JSONReader.isValue(bytes)
  }
}

extension ArchiveReader {
  /// A line that is no call.
  mutating func line() throws(JSONError) -> ArchiveLine {
    var found: ArchiveLine?
    var (kind, id, step): (StoredDocument.Kind?, String?, StatisticsStep?)
    var (setting, target, namespace): (String?, String?, Namespace?)
    var (start, value, content): (Timestamp?, String?, [UInt8]?)
    var (record, numbers): (TargetRecord?, [Int64]?)
    try reader.beginObject()
    while let name = try reader.nextKey() {
      switch name {
      case "archive": found = try header()
      case "archiveKey": found = .key(try StoredDataKey.read(&reader))
      case "end": found = .end(try totals())
      case "setting": setting = try reader.string()
      case "value": value = try reader.string()
      case "document": kind = try word(name, ArchiveWords.documents)
      case "id": id = try reader.string()
      case "content": content = Array(reader.raw(try reader.skipValue()))
      case "bytes": content = try base64(name)
      case "target": target = try reader.string()
      case "record": record = try TargetRecord(reader.raw(try reader.skipValue()))
      case "counts": step = try word(name, ArchiveWords.steps)
      case "namespace":
        let text = try reader.string()
        namespace = Namespace(text)
        guard namespace != nil else { throw error("\"\(text)\" is not the name of a namespace") }
      case "start": start = try time()
      case "numbers": numbers = try integers()
      case "checksum": try checksum()
      default: throw unknown(name)
      }
    }
    try reader.finish()
    if let found { return found }
    if let setting { return .item(.setting(name: setting, value: try required(value, "value"))) }
    if let kind {
      return .item(.document(StoredDocument(kind, id: try required(id, "id"), try required(content, "content"))))
    }
    if let target { return .item(.target(TargetKey(qualified: target), try required(record, "record"))) }
    return .item(
      .counts(
        StoredCounts(
          namespace: try required(namespace, "namespace"), step: try required(step, "counts"),
          start: try required(start, "start"), numbers: try required(numbers, "numbers"))))
  }

  /// The sealed line in a line.
  mutating func sealed() throws(JSONError) -> [UInt8] {
    var found: [UInt8]?
    try reader.beginObject()
    while let name = try reader.nextKey() {
      switch name {
      case "sealed": found = try base64(name)
      case "checksum": try checksum()
      default: throw unknown(name)
      }
    }
    try reader.finish()
    return try required(found, "sealed")
  }

  private mutating func header() throws(JSONError) -> ArchiveLine {
    let format = try reader.integer()
    guard format == ArchiveLine.format else {
      throw error("the archive has format \(format), and this version of Redial reads format \(ArchiveLine.format)")
    }
    return .header
  }

  private mutating func totals() throws(JSONError) -> ArchiveLine.Totals {
    var totals = ArchiveLine.Totals()
    try reader.beginObject()
    while let name = try reader.nextKey() {
      switch name {
      case "items": totals.items = try count(name)
      case "calls": totals.calls = try count(name)
      default: throw unknown(name)
      }
    }
    return totals
  }

  private mutating func integers() throws(JSONError) -> [Int64] {
    var numbers: [Int64] = []
    try reader.beginArray()
    while try reader.nextElement() { numbers.append(try reader.integer()) }
    return numbers
  }
}
