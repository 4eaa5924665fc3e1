// Prints what the contract takes from declarations in Swift, as JSON; `Scripts/generate` runs it. Only debug builds know it.

import Foundation
import RedialModel

#if DEBUG
  FileHandle.standardOutput.write(Data(ContractDeclarations.json))
#endif
