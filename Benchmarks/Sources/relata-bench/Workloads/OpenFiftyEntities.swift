import GRDB
import Relata

extension Workload {
    /// Opening and closing an existing file of fifty entities, twenty times. Every contestant reads one row, and with
    /// it the schema.
    static let openFiftyEntities = Workload(name: "open-50-entities", targets: [.limit(2)]) { bench in
        let file = try bench.emptyFile("fifty.sqlite", for: E01.self)
        // Each opens its own file: GRDB's pool makes and drops a table, after which Relata would look at all tables
        // again.
        let limit = try bench.directory.copy(file, "limit.sqlite")
        let grdb = try bench.directory.copy(file, "grdb.sqlite")
        return try await bench.time([
            Contestant(.ours) {
                {
                    try repeated {
                        let store = try Store.open(file, for: E01.self)
                        _ = try store.first(E25.all)
                        try store.close()
                    }
                }
            },
            Contestant(.limit) {
                { try repeated { _ = try RawDatabase(limit).prepare("SELECT * FROM E25").step() } }
            },
            Contestant(.peer("GRDB")) {
                {
                    try repeated {
                        let pool = try DatabasePool(path: grdb)
                        _ = try pool.read { try GRDB.Row.fetchOne($0, sql: "SELECT * FROM E25") }
                        try pool.close()
                    }
                }
            },
        ])
    }

    private static func repeated(_ body: () throws -> Void) throws -> Int {
        for _ in 0..<20 { try body() }
        return 20
    }
}
