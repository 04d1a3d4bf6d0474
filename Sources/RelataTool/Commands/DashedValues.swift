#if CommandLineTool
/// Arguments that begin with a dash and are values, such as the key `-3`. The parser takes them for options.
struct DashedValues {
    /// The arguments of the command line, without the program's name.
    let arguments: [String]

    /// The arguments, with negative keys moved after `--`, where the parser accepts any value.
    var parsed: [String] {
        guard arguments.first == DeleteCommand.configuration.commandName else { return arguments }
        var others: [String] = []
        var keys: [String] = []
        for argument in arguments[..<terminator] {
            if Self.isNegativeNumber(argument), others.last != "--show" {
                keys.append(argument)
            } else {
                others.append(argument)
            }
        }
        return keys.isEmpty ? arguments : others + ["--"] + keys + arguments[terminator...].dropFirst()
    }

    /// Advice for a value that the parser may have treated as an option; `nil` if there is none.
    var hint: String? {
        let isTaken = arguments[..<terminator].indices.contains { place in
            Self.isDashed(arguments[place]) && !(place > 0 && Self.takingAny.contains(arguments[place - 1]))
        }
        return isTaken
            ? "a value that begins with - comes at the end, after --, or is joined to its option by =" : nil
    }

    /// The options of ``FetchCommand`` whose values may begin with a dash.
    private static let takingAny: Set<String> = ["--where", "--sort", "--limit"]

    /// The place of `--`, or the end.
    private var terminator: Int { arguments.firstIndex(of: "--") ?? arguments.endIndex }

    /// Whether an argument begins with one dash; help is the only option that does. A dash alone is standard input.
    private static func isDashed(_ argument: String) -> Bool {
        argument.hasPrefix("-") && !argument.hasPrefix("--") && argument.count > 1 && argument != "-h"
    }

    /// Whether an argument begins as a negative number does. A key of several parts begins with its first.
    private static func isNegativeNumber(_ argument: String) -> Bool {
        isDashed(argument) && argument.dropFirst().first.map { $0.isASCII && $0.isNumber } == true
    }
}
#endif
