// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// Relata: relationship-first persistence for Swift.
//
// An app that imports `Relata` fetches swift-syntax. What only the command-line tool needs stands behind the trait
// `CommandLineTool`, what only the server needs behind `Server`, what needs libpq behind `PostgreSQL`. `SQLCipher` puts
// another library in the place of the system's SQLite. All are off by default.

/// Every target of ours compiles without a warning.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
    name: "relata",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Relata", targets: ["Relata"]),
        .library(name: "RelataRecords", targets: ["RelataRecords"]),
        .library(name: "RelataTesting", targets: ["RelataTesting"]),
        .library(name: "RelataServer", targets: ["RelataServer", "RelataParse"]),
        .executable(name: "relata", targets: ["RelataTool"]),
        .executable(name: "relata-stories", targets: ["StoryRunner"]),
    ],
    traits: [
        .trait(
            name: "CommandLineTool",
            description: "The `relata` command: inspect, fetch, delete and check any SQLite file."),
        .trait(
            name: "Server",
            description: "The Parse-compatible server: `RelataServer`, and `relata serve` in the command-line tool."),
        .trait(name: "PostgreSQL", description: "The engine on PostgreSQL, which needs the system's libpq."),
        .trait(
            name: "SQLCipher",
            description: "Encrypted files: SQLCipher 4, which pkg-config must know, instead of the system's SQLite."),
    ],
    dependencies: [
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // Schema, values, expressions and plans. Pure: no I/O.
        .target(name: "RelataCore", swiftSettings: strict),
        // A table-valued function over an array in memory, so that a list of values is one bound parameter, and settings.
        .target(
            name: "CRelataSQLite",
            dependencies: [.target(name: "RelataSQLCipher", condition: .when(traits: ["SQLCipher"]))]),
        // How long a thread has served calls, for which Swift has no variables of a thread.
        .target(name: "CRelataEngine"),
        // What `@Model` and `@Shape` write.
        .target(
            name: "RelataMacroExpansion",
            dependencies: [.product(name: "SwiftSyntaxMacros", package: "swift-syntax")], swiftSettings: strict),
        // The compiler plug-in behind them.
        .macro(
            name: "RelataMacros",
            dependencies: [
                "RelataMacroExpansion", .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ],
            swiftSettings: strict),
        // The system's SQLite.
        .systemLibrary(name: "RelataSystemSQLite", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        // SQLCipher, which is SQLite with encrypted files.
        .systemLibrary(name: "RelataSQLCipher", pkgConfig: "sqlcipher", providers: [.brew(["sqlcipher"])]),
        // One of the two.
        .target(
            name: "RelataCSQLite",
            dependencies: [
                "RelataSystemSQLite", .target(name: "RelataSQLCipher", condition: .when(traits: ["SQLCipher"])),
            ],
            swiftSettings: strict),
        // What every engine shares: the seam, connections and pools, write runs, deletions, change feeds.
        .target(
            name: "RelataEngine", dependencies: ["RelataCore", "CRelataEngine", "RelataCSQLite"], swiftSettings: strict),
        // The engine on SQLite.
        .target(
            name: "RelataSQLite", dependencies: ["RelataCore", "RelataEngine", "CRelataSQLite", "RelataCSQLite"],
            swiftSettings: strict),
        // The system's libpq.
        .systemLibrary(
            name: "RelataCPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // The engine on PostgreSQL.
        .target(
            name: "RelataPostgres",
            dependencies: [
                "RelataCore", "RelataEngine", .target(name: "RelataCPQ", condition: .when(traits: ["PostgreSQL"])),
            ],
            swiftSettings: strict),
        // Where databases are, and which engine each has.
        .target(
            name: "RelataEngines",
            dependencies: [
                "RelataCore", "RelataEngine", "RelataSQLite",
                .target(name: "RelataPostgres", condition: .when(traits: ["PostgreSQL"])),
            ],
            swiftSettings: strict),
        // A store of classes that are known at run time: records, made by use or refused.
        .target(
            name: "RelataRecords", dependencies: ["RelataCore", "RelataEngine", "RelataEngines", "RelataSQLite"],
            swiftSettings: strict),
        // What an app imports: the typed API over plans and an engine.
        .target(
            name: "Relata",
            dependencies: [
                "RelataCore", "RelataEngine", "RelataEngines", "RelataSQLite", "RelataMacros",
            ],
            swiftSettings: strict),
        // Parse's protocol on a store: classes, objects, queries, batches and schemas. Knows requests and replies, no HTTP.
        .target(
            name: "RelataParse",
            dependencies: ["Relata", "RelataCore", "RelataEngine", "RelataEngines", "RelataRecords"],
            swiftSettings: strict),
        // The system's zlib: bodies are compressed where the request is answered, not on the event loop.
        .systemLibrary(name: "CRelataZlib"),
        // The system's libcrypt: verifies passwords that other servers kept by bcrypt.
        .systemLibrary(name: "CRelataCrypt", providers: [.apt(["libcrypt-dev"])]),
        // The dashboard's pages, as the bytes of their files.
        .target(name: "RelataDashboard", resources: [.embedInCode("web")], swiftSettings: strict),
        // HTTP: what carries the protocol of RelataParse, and any other.
        .target(
            name: "RelataServer",
            dependencies: [
                "RelataParse", "Relata",
                .target(name: "RelataDashboard", condition: .when(traits: ["Server"])),
                .target(name: "CRelataZlib", condition: .when(traits: ["Server"])),
                .target(name: "CRelataCrypt", condition: .when(platforms: [.linux], traits: ["Server"])),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Server"])),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["Server"])),
                .product(name: "JWTKit", package: "jwt-kit", condition: .when(traits: ["Server"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Server"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Server"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
            ],
            swiftSettings: strict),
        // For the tests of apps: recorded statements, dumps, seeded sample data.
        .target(name: "RelataTesting", dependencies: ["Relata", "RelataEngine"], swiftSettings: strict),
        // The command-line tool `relata`.
        .executableTarget(
            name: "RelataTool",
            dependencies: [
                "RelataCore", "RelataEngine", "RelataEngines", "RelataRecords", "RelataSQLite",
                .target(name: "RelataServer", condition: .when(traits: ["Server"])),
                .target(name: "RelataParse", condition: .when(traits: ["Server"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Server"])),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLineTool"])),
            ],
            swiftSettings: strict),
        // The examples: each a small program with its own models, told as a transcript.
        .target(name: "RelataStories", dependencies: ["Relata"], path: "Examples/Stories", swiftSettings: strict),
        .executableTarget(
            name: "StoryRunner", dependencies: ["RelataStories"], path: "Examples/StoryRunner", swiftSettings: strict),
        // Programs of one screen each, to be copied.
        .executableTarget(
            name: "TaskList", dependencies: ["Relata"], path: "Examples/Programs/TaskList", swiftSettings: strict),
        .executableTarget(
            name: "FieldNotes", dependencies: ["RelataRecords"], path: "Examples/Programs/FieldNotes",
            swiftSettings: strict),
        .executableTarget(
            name: "BookServer",
            dependencies: ["Relata", .target(name: "RelataServer", condition: .when(traits: ["Server"]))],
            path: "Examples/Programs/BookServer", swiftSettings: strict),
        .testTarget(name: "RelataCoreTests", dependencies: ["RelataCore", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "RelataMacrosTests",
            dependencies: [
                "RelataMacroExpansion",
                .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RelataSQLiteTests", dependencies: ["RelataSQLite", "RelataEngine", "RelataCore", "TestSupport"],
            swiftSettings: strict),
        // Changes of the models, on every engine.
        .testTarget(
            name: "RelataMigrationTests",
            dependencies: [
                "RelataEngine", "RelataCore", "RelataSQLite", "RelataPostgres", "PostgresCluster", "TestSupport",
            ],
            swiftSettings: strict),
        // What tests of several targets need: databases and files that go with their test, random numbers, shared data.
        .target(
            name: "TestSupport", dependencies: ["RelataSQLite", "RelataEngine", "RelataCore"],
            path: "Tests/TestSupport",
            swiftSettings: strict),
        // A PostgreSQL server of a test process's own.
        .target(
            name: "PostgresCluster", dependencies: ["RelataPostgres", "RelataCore"], path: "Tests/PostgresCluster",
            swiftSettings: strict),
        // Runs tests on every engine, each on its own databases.
        .target(
            name: "TestEngines", dependencies: ["PostgresCluster", "RelataPostgres", "RelataCore"],
            path: "Tests/TestEngines", swiftSettings: strict),
        .testTarget(
            name: "RelataPostgresTests",
            dependencies: ["RelataPostgres", "RelataEngine", "RelataCore", "PostgresCluster", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "RelataRecordsTests",
            dependencies: [
                "RelataRecords", "RelataEngines", "RelataSQLite", "RelataCore", "Relata", "RelataTesting",
                "TestEngines", "PostgresCluster", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RelataParseTests",
            dependencies: [
                "RelataParse", "RelataRecords", "RelataEngines", "Relata", "RelataTesting", "TestSupport",
                "TestEngines",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RelataTests",
            dependencies: [
                "Relata", "RelataEngine", "RelataSQLite", "RelataTesting", "PostgresCluster", "TestSupport",
                "DocumentationSupport",
            ],
            swiftSettings: strict),
        // Kills a process that writes, and lets several write at once.
        .executableTarget(
            name: "RobustnessWriter", dependencies: ["Relata", "RelataSQLite"], path: "Tests/RobustnessWriter",
            swiftSettings: strict),
        .testTarget(
            name: "RobustnessTests",
            dependencies: [
                "RobustnessWriter", "Relata", "RelataRecords", "RelataTesting", "PostgresCluster", "TestSupport",
            ],
            swiftSettings: strict),
        // Talks to servers byte for byte, for tests and for load.
        .target(name: "ServerClient", path: "Tests/ServerClient", swiftSettings: strict),
        // Keeps a server under load for a long time.
        .executableTarget(
            name: "relata-soak", dependencies: ["ServerClient"], path: "Tests/ServerSoak", swiftSettings: strict),
        .testTarget(
            name: "RelataServerTests",
            dependencies: [
                "RelataServer", "RelataParse", "Relata", "ServerClient", "RelataDashboard", "PostgresCluster",
                "TestSupport",
                "TestEngines", "DocumentationSupport",
                .target(name: "RelataTool", condition: .when(traits: ["Server"])),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Server"])),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["Server"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Server"])),
            ],
            swiftSettings: strict),
        // Runs the tool as a process.
        .testTarget(
            name: "RelataToolTests",
            dependencies: [
                "RelataTool", "Relata", "RelataSQLite", "RelataCore", "RelataPostgres", "PostgresCluster",
                "TestSupport",
            ],
            swiftSettings: strict),
        // Reads the guides, so that tests can compare them with what the code does.
        .target(
            name: "DocumentationSupport", dependencies: ["RelataSQLite"], path: "Tests/DocumentationSupport",
            swiftSettings: strict),
        .testTarget(
            name: "StoriesTests", dependencies: ["RelataStories", "Relata", "RelataSQLite", "DocumentationSupport"],
            swiftSettings: strict),
        // Every example of the guides, compiled and run.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "Relata", "RelataRecords", "RelataTesting", "DocumentationSupport", "TaskList", "FieldNotes",
                "BookServer",
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
