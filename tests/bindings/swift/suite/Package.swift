// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "suite",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../../../../bindings_out/swift")],
    targets: [
        .target(name: "Suite", dependencies: [.product(name: "LlamaSpeculative", package: "swift")]),
        .executableTarget(name: "cases", dependencies: ["Suite"]),
        .testTarget(name: "SuiteTests", dependencies: ["Suite"]),
    ]
)
