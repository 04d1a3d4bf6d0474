// swift-tools-version: 6.2
import PackageDescription

// Measures the speed of Relata beside that of SQLite's own interface and of GRDB, on PostgreSQL beside that of libpq, and
// the speed of its server beside that of a bare one. It is a separate package, so that an app that uses Relata never sees
// it. Dependencies of a single program are behind a trait: `GRDB`, which is on by default, `PostgreSQL`, `Server` or
// `CommandLineTool`.

let package = Package(
    name: "relata-benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "relata-bench", targets: ["relata-bench"]),
        .executable(name: "relata-postgres-bench", targets: ["relata-postgres-bench"]),
        .executable(name: "relata-server-bench", targets: ["relata-server-bench"]),
    ],
    traits: [
        .default(enabledTraits: ["GRDB"]),
        .trait(name: "GRDB", description: "The speed on SQLite, beside GRDB: `relata-bench`."),
        .trait(name: "PostgreSQL", description: "The speed on PostgreSQL, beside libpq: `relata-postgres-bench`."),
        .trait(name: "Server", description: "The speed of the server: `relata-server-bench`."),
        .trait(name: "CommandLineTool", description: "The dashboard and the commands: `relata`."),
    ],
    dependencies: [
        .package(
            name: "relata", path: "..",
            traits: [
                .trait(name: "Server", condition: .when(traits: ["Server"])),
                .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                .trait(name: "CommandLineTool", condition: .when(traits: ["CommandLineTool"])),
            ]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        // The figures: a table and a file that both programs write.
        .target(name: "BenchmarkReport", swiftSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "relata-bench",
            dependencies: [
                "BenchmarkReport",
                .product(name: "Relata", package: "relata"),
                .product(name: "RelataRecords", package: "relata"),
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
                .product(name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]),
        // The system's libpq, for the hand-written code.
        .systemLibrary(name: "BenchmarkCPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .executableTarget(
            name: "relata-postgres-bench",
            dependencies: [
                "BenchmarkReport",
                .target(name: "BenchmarkCPQ", condition: .when(traits: ["PostgreSQL"])),
                .product(name: "Relata", package: "relata"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "relata-server-bench",
            dependencies: [
                "BenchmarkReport",
                .product(name: "Relata", package: "relata"),
                .product(name: "RelataServer", package: "relata", condition: .when(traits: ["Server"])),
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: .when(traits: ["Server"])),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]),
    ],
    swiftLanguageModes: [.v6]
)
