#if Server
import BenchmarkReport

/// The options of the command line.
struct Options: Sendable {
    var only: Set<String> = []
    var rounds = 5
    var isQuick = false
    var output = "bench.json"
    /// The Python of an environment that Kinto is installed in.
    var kinto: String?
    /// The address of an empty PostgreSQL database for Kinto.
    var postgresql: String?
    /// The address of an empty PostgreSQL database for our server.
    var database: String?
    /// The server that this process runs, and its arguments, if it is a child.
    var child: [String]?

    static let usage = """
        usage: relata-server-bench [--only NAME,…] [--rounds N] [--quick] [--kinto PYTHON [--postgresql URL]]
               [--database URL] [--output FILE]

          --only        these workloads only: \(ServerWorkload.all.map(\.name).joined(separator: ", "))
          --rounds      how often each is measured (5); the median counts
          --quick       a tenth of the objects and one short round: shows that everything runs, not how fast
          --kinto       the Python of an environment with Kinto; without it Kinto isn't measured
          --postgresql  an empty PostgreSQL database; without it Kinto is measured with its memory backend only
          --database    another empty PostgreSQL database; without it our server isn't measured on PostgreSQL
          --output      the file for the figures (bench.json); those of other workloads that it holds stay
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
                rounds = 1
            case "--kinto": kinto = try Self.value(&arguments, argument)
            case "--postgresql": postgresql = try Self.value(&arguments, argument)
            case "--output": output = try Self.value(&arguments, argument)
            case "--database": database = try Self.value(&arguments, argument)
            case "--child":
                child = Array(arguments)
                arguments = []
            default: throw Failure(argument == "--help" ? Self.usage : "unknown option \(argument)\n\n\(Self.usage)")
            }
        }
        if let unknown = only.first(where: { name in !ServerWorkload.all.contains { $0.name == name } }) {
            throw Failure("no workload is named \(unknown)\n\n\(Self.usage)")
        }
    }

    /// Nothing is measured on PostgreSQL without a database, unless it is named.
    func includes(_ name: String) -> Bool {
        only.isEmpty ? database != nil || !name.hasPrefix("pg-") : only.contains(name)
    }

    private static func value(_ arguments: inout ArraySlice<String>, _ option: String) throws -> String {
        guard let value = arguments.popFirst() else { throw Failure("\(option) needs a value") }
        return value
    }
}
#endif
