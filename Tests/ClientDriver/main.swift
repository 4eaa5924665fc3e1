// Calls the Swift client as the lines of its input say: `[method, arguments, options]`, each answered by a line.
//
//     client-driver OPTIONS

import Foundation
import RedialClient

let driver = try Driver(Given(decoding: CommandLine.arguments[1]))
while let line = readLine() {
  // Not by `print`, which keeps what it has for a pipe until there is more.
  FileHandle.standardOutput.write(Data((await driver.answer(to: line) + "\n").utf8))
}
