extension Command {
  /// `redial instances`
  static let instances = Command(
    name: "instances", summary: "List the instances that share the store.", options: [asJSON] + APIClient.options
  ) { arguments throws(CommandError) in
    arguments.show(try APIClient(arguments).request("GET", "/v1/instances")) { answer in
      var table = Table("instance", "shards", "version", "url", "")
      for instance in answer["data"].elements {
        let notes = [instance["self"].isTrue ? "this one" : nil, instance["leads"].isTrue ? "leads" : nil]
        table.add(
          .number(instance["number"].integer), .number(instance["shards"].integer),
          Table.Cell(instance["version"].escapedText ?? "-"), Table.Cell(instance["url"].escapedText ?? "-"),
          Table.Cell(notes.compactMap { $0 }.joined(separator: ", ")))
      }
      return table.text(none: "No instance has a lease yet.\n")
    }
    return .success
  }
}
