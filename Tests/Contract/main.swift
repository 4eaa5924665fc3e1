// Prints what the contract takes from declarations in Swift, as JSON; with `problems`, what the codes of problems mean.
// `Scripts/generate` runs it. Only debug builds know it.

import Foundation
import RedialModel

#if DEBUG
  let isOfProblems = CommandLine.arguments.dropFirst().first == "problems"
  let json = isOfProblems ? ContractDeclarations.problems : ContractDeclarations.json
  FileHandle.standardOutput.write(Data(json))
#endif
