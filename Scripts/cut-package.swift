
// Scripts/sanitize appends this to Package.swift: it leaves the suites named above, and what they need.

var needed = suites
var isComplete = false
while !isComplete {
  let names = package.targets.filter { needed.contains($0.name) }.flatMap(\.dependencies).compactMap { dependency in
    if case .byNameItem(let name, _) = dependency { name } else { nil as String? }
  }
  isComplete = needed.isSuperset(of: names)
  needed.formUnion(names)
}
package.products = []
package.dependencies = []
package.targets.removeAll { !needed.contains($0.name) }
