// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// Relata: relationship-first persistence for Swift.
//
// An app that imports `Relata` fetches GRDB and swift-syntax. What only the command-line tool needs stands
// behind the trait `CommandLineTool`, which is off by default.

/// Every target of ours compiles without a warning.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
    name: "relata",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Relata", targets: ["Relata"]),
        .library(name: "RelataTesting", targets: ["RelataTesting"]),
        .executable(name: "relata", targets: ["RelataTool"]),
        .executable(name: "relata-stories", targets: ["StoryRunner"]),
    ],
    traits: [
        .trait(
            name: "CommandLineTool",
            description: "The `relata` command: inspect, fetch, delete and check any SQLite file.")
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // Schema, values, expressions and plans. Pure: no I/O.
        .target(name: "RelataCore", swiftSettings: strict),
        // A table-valued function over an array in memory, so that a list of values is one bound parameter.
        .target(name: "CRelataSQLite"),
        // The compiler plug-in behind `@Model`.
        .macro(
            name: "RelataMacros",
            dependencies: [
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ],
            swiftSettings: strict),
        // The engine on GRDB's connections.
        .target(
            name: "RelataSQLite",
            dependencies: [
                "RelataCore", "CRelataSQLite",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        // What an app imports: the typed API over plans and an engine.
        .target(name: "Relata", dependencies: ["RelataCore", "RelataSQLite", "RelataMacros"], swiftSettings: strict),
        // For the tests of apps: recorded statements, dumps, seeded sample data.
        .target(name: "RelataTesting", dependencies: ["Relata"], swiftSettings: strict),
        // The command-line tool `relata`.
        .executableTarget(
            name: "RelataTool",
            dependencies: [
                "RelataCore", "RelataSQLite",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLineTool"])),
            ],
            swiftSettings: strict),
        // The examples: each a small program with its own models, told as a transcript.
        .target(name: "RelataStories", dependencies: ["Relata"], path: "Examples/Stories", swiftSettings: strict),
        .executableTarget(
            name: "StoryRunner", dependencies: ["RelataStories"], path: "Examples/StoryRunner", swiftSettings: strict),
        .testTarget(name: "RelataCoreTests", dependencies: ["RelataCore"], swiftSettings: strict),
        .testTarget(
            name: "RelataMacrosTests",
            dependencies: [
                "RelataMacros",
                .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RelataSQLiteTests", dependencies: ["RelataSQLite", "RelataCore"], swiftSettings: strict),
        .testTarget(name: "RelataTests", dependencies: ["Relata", "RelataTesting"], swiftSettings: strict),
        // Kills a process that writes, and lets several write at once.
        .executableTarget(
            name: "RobustnessWriter", dependencies: ["Relata"], path: "Tests/RobustnessWriter", swiftSettings: strict),
        .testTarget(
            name: "RobustnessTests", dependencies: ["RobustnessWriter", "Relata", "RelataTesting"],
            swiftSettings: strict),
        // Runs the tool as a process.
        .testTarget(
            name: "RelataToolTests", dependencies: ["RelataTool", "RelataSQLite", "RelataCore"], swiftSettings: strict),
        // Reads the guides, so that tests can compare them with what the code does.
        .target(name: "DocumentationSupport", path: "Tests/DocumentationSupport", swiftSettings: strict),
        .testTarget(
            name: "StoriesTests", dependencies: ["RelataStories", "Relata", "DocumentationSupport"],
            swiftSettings: strict),
        // Every example of the guides, compiled and run.
        .testTarget(
            name: "DocumentationTests", dependencies: ["Relata", "RelataTesting", "DocumentationSupport"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
