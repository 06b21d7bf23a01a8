// Runs the shared cases: reads them from standard input and writes what it saw, see tests/cases/README.md.

import LlamaSpeculative
import Suite

var now = Case()
while let line = readLine() {
    guard now.take(line) else { continue }
    print("case \(now.name) \(now.layer)")
    do throws(SpeculativeError) {
        print(try now.run().joined(separator: "\n"))
    } catch {
        print("error \(error.failure.map { library.statusName(status: $0.status) } ?? "NONE") \(error)")
    }
    print("end")
    now = Case()
}
