import BenchmarkReport

/// The options of the command line.
struct Options: Sendable {
    var only: Set<String> = []
    var rounds = 7
    var isQuick = false
    /// Whether processor time is measured instead of elapsed time.
    var usesProcessorTime = false
    var output = "bench.json"
    /// The part of a workload to run in this process, if another process started it.
    var child: [String]?

    static let usage = """
        usage: relata-bench [--only NAME,…] [--rounds N] [--quick] [--cpu] [--output FILE]

          --only     these workloads only: \(Workload.all.map(\.name).joined(separator: ", "))
          --rounds   how often each is measured (7); the median counts
          --quick    a tenth of the rows and three rounds: shows that everything runs, not how fast
          --cpu      processor time instead of elapsed time: for a machine that is busy with other things
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
            case "--cpu": usesProcessorTime = true
            case "--output": output = try Self.value(&arguments, argument)
            case "--child":
                child = Array(arguments)
                arguments = []
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
