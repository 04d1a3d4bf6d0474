// swift-tools-version: 6.2
import PackageDescription

// The speed of Relata beside that of SQLite's own interface and of GRDB. A package of its own, so that an app that
// uses Relata never sees it.

let package = Package(
    name: "relata-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "relata", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "relata-bench",
            dependencies: [
                .product(name: "Relata", package: "relata"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)])
    ],
    swiftLanguageModes: [.v6]
)
