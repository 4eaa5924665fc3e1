import RedialJSON
import RedialModel
import RedialText

extension Command {
  /// `redial audit`
  static let audit = Command(
    name: "audit", summary: "List who did what, newest first.",
    options: [
      Option(name: "--actor", form: "ACTOR", summary: "Only what this key, by its id or name, or this person did."),
      Option(
        name: "--action", form: "ACTION,...", summary: "Only these, such as key.created,key.revoked.",
        values: .words(AuditAction.allCases.map(\.rawValue))),
      Option(name: "--object", form: "OBJECT", summary: "Only what was done to the object with this id, name or key."),
      Option(name: "--since", form: "TIME", summary: "Only from then on; a time, or an age such as 24h."),
      Option(name: "--until", form: "TIME", summary: "Only before then; a time, or an age such as 24h."),
      Option(name: "--json", summary: "One record a line, with all that it has; all pages, unless --limit is given."),
    ] + page(.audit, of: nil) + APIClient.options,
    notes: """
      It takes a key with the scope admin. The list has the records of the key's namespace; for an operator it has all.
      """
  ) { arguments throws(CommandError) in
    let client = APIClient(arguments)
    let names: KeyValuePairs = [
      "--actor": "actor", "--action": "action", "--object": "object", "--since": "since", "--until": "until",
    ]
    let answer = try client.request("GET", "/v1/audit" + arguments.pageQuery(names))
    guard arguments.has("--json") else {
      arguments.showPage(answer, AuditText.list)
      return .success
    }
    var page = answer.json
    AuditText.writeLines(of: answer.body)
    while !arguments.has("--limit"), let next = page["nextCursor"].text {
      let query = arguments.query(names)
      let more = try client.request(
        "GET", "/v1/audit\(query.isEmpty ? "?" : query + "&")cursor=\(PercentCoding.encode(next))")
      page = more.json
      AuditText.writeLines(of: more.body)
    }
    return .success
  }
}

/// The audit log as text.
enum AuditText {
  static func list(_ answer: JSONValue) -> String {
    var table = Table("when", "who", "from", "what", "object", "now")
    for record in answer["data"].elements {
      table.add(
        Table.Cell(record["at"].escapedText), Table.Cell(actor(record)), Table.Cell(record["address"].escapedText),
        Table.Cell(record["action"].escapedText), Table.Cell(record["object"].escapedText), Table.Cell(now(record)))
    }
    return table.text(none: "Nobody has done anything that is recorded.")
  }

  /// Writes the records of a page, as they are, one a line.
  static func writeLines(of page: [UInt8]) {
    let records = page.withUnsafeBufferPointer { bytes -> [[UInt8]]? in
      var (reader, records) = (JSONReader(bytes), [[UInt8]]())
      do throws(JSONError) {
        try reader.beginObject()
        while let name = try reader.nextKey() {
          guard name == "data" else {
            _ = try reader.skipValue()
            continue
          }
          try reader.beginArray()
          while try reader.nextElement() { records.append(Array(reader.raw(try reader.skipValue()))) }
        }
      } catch {
        return nil
      }
      return records
    }
    for record in records ?? [] { Terminal.write(json: record) }
  }

  private static func actor(_ record: JSONValue) -> String? {
    record["actorName"].escapedText ?? record["actor"].escapedText ?? record["actorKind"].escapedText
  }

  /// The first of what has changed, as it is now; `gone` for what was removed.
  private static func now(_ record: JSONValue) -> String? {
    let members = record["after"].members
    if members.isEmpty { return record["before"].members.isEmpty ? nil : "gone" }
    let shown = members.prefix(3).map { member in
      let value =
        member.value.text ?? member.value.indented().split(whereSeparator: \.isWhitespace).joined(separator: " ")
      return PlainText.escaped("\(member.name)=\(value)")
    }.joined(separator: " ")
    return shown.count > 60 ? "\(shown.prefix(59))…" : shown
  }
}
