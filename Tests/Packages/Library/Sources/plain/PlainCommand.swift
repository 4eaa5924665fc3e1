@main struct PlainCommand {
  static func main() { print("retry(after: 0.5 seconds)") }
}
