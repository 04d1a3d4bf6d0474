#if CommandLineTool
import ArgumentParser

/// A span of time as it is typed: `7d`, `12h`, `30m`, `90s`, `500ms`.
struct TimeSpan: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), number > 0, number <= 1_000_000_000 else { return nil }
        switch argument.dropFirst(digits.count) {
        case "ms": duration = .milliseconds(number)
        case "s": duration = .seconds(number)
        case "m": duration = .seconds(number * 60)
        case "h": duration = .seconds(number * 3600)
        case "d": duration = .seconds(number * 24 * 3600)
        default: return nil
        }
    }
}
#endif
