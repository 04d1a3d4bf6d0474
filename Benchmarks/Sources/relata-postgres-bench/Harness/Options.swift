#if PostgreSQL
import BenchmarkReport

/// The options of the command line.
struct Options: Sendable {
    var only: Set<String> = []
    var rounds = 7
    var isQuick = false
    var output = "bench.json"
    /// The URL of a database that nobody else needs.
    var server: String?
    /// The path of `pgbench`.
    var pgbench = "pgbench"
    /// The URL of a database, if this process measures for another one.
    var child: String?

    static let usage = """
        usage: relata-postgres-bench --server URL [--only NAME,…] [--rounds N] [--quick] [--pgbench PATH] [--output FILE]

          --server   the URL of a database that may be filled and emptied
          --only     these workloads only: \(Workload.all.map(\.name).joined(separator: ", "))
          --rounds   how often each is measured (7); the median counts
          --quick    a tenth of the rows and three rounds: shows that everything runs, not how fast
          --pgbench  PostgreSQL's own benchmark, for pg-mixed
          --output   the file for the figures (bench.json)
        """

    init(_ arguments: some Sequence<String>) throws {
        var arguments = Array(arguments)[...]
        while let argument = arguments.popFirst() {
            switch argument {
            case "--only": only = Set(try Self.value(&arguments, argument).split(separator: ",").map(String.init))
            case "--rounds":
                guard let number = Int(try Self.value(&arguments, argument)), number > 0 else {
                    throw Failure("--rounds takes a number from 1 on")
                }
                rounds = number
            case "--quick":
                isQuick = true
                rounds = min(rounds, 3)
            case "--server": server = try Self.value(&arguments, argument)
            case "--pgbench": pgbench = try Self.value(&arguments, argument)
            case "--output": output = try Self.value(&arguments, argument)
            case "--child": child = try Self.value(&arguments, argument)
            default: throw Failure(argument == "--help" ? Self.usage : "unknown option \(argument)\n\n\(Self.usage)")
            }
        }
        if let unknown = only.first(where: { name in !Workload.all.contains { $0.name == name } }) {
            throw Failure("no workload is named \(unknown)\n\n\(Self.usage)")
        }
    }

    func includes(_ name: String) -> Bool { only.isEmpty || only.contains(name) }

    private static func value(_ arguments: inout ArraySlice<String>, _ option: String) throws -> String {
        guard let value = arguments.popFirst() else { throw Failure("\(option) needs a value") }
        return value
    }
}
#endif
