import Foundation

/// Collects figures, prints them as a table and writes them as JSON.
public struct Report {
    private var lines: [(name: String, targets: [Target], outcome: Outcome)] = []

    /// Starts an empty report.
    public init() {}

    /// Adds the aggregates of a workload.
    public mutating func add(_ name: String, _ targets: [Target], _ outcome: Outcome) {
        lines.append((name, targets, outcome))
    }

    /// Reports progress on the terminal, away from the table.
    public static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

    /// Prints a line for each workload.
    public func printTable() {
        var table = [["workload", "ours", "limit", "ratio", "peers", "target", ""]]
        for (name, targets, outcome) in lines {
            let (texts, isMet) = judge(targets, outcome)
            let peers = outcome.peers.map {
                "\($0.name) \(Self.number($0.value)) (\(Self.ratio($0.value, outcome.ours)))"
            }
            table.append([
                name, Self.number(outcome.ours) + " " + outcome.unit.rawValue,
                outcome.limit.map(Self.number) ?? "", outcome.limit.map { Self.ratio(outcome.ours, $0) } ?? "",
                peers.joined(separator: ", "), texts, isMet ? "met" : "MISSED",
            ])
        }
        let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
        for row in table {
            Swift.print(
                zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  "))
        }
    }

    /// Writes the figures to a file. Its figures of other workloads stay.
    public func write(to file: String) throws {
        var entries = Self.entries(in: file)
        let measured = Set(lines.map(\.name))
        entries.removeAll { ($0["workload"] as? String).map(measured.contains) ?? true }
        for (name, _, outcome) in lines {
            let unit = outcome.unit.rawValue
            var entry: [String: Any] = ["workload": name, "ours_\(unit)": Self.rounded(outcome.ours)]
            if let limit = outcome.limit { entry["limit_\(unit)"] = Self.rounded(limit) }
            if outcome.peers.isEmpty { entries.append(entry) }
            for peer in outcome.peers {
                entry["peer"] = peer.name
                entry["peer_\(unit)"] = Self.rounded(peer.value)
                entries.append(entry)
            }
        }
        let data = try JSONSerialization.data(withJSONObject: entries, options: [.prettyPrinted, .sortedKeys])
        try data.write(to: URL(filePath: file))
        Swift.print("figures written to \(file)")
    }

    /// The aggregates in a file; none if it has other contents.
    private static func entries(in file: String) -> [[String: Any]] {
        guard let data = FileManager.default.contents(atPath: file) else { return [] }
        return (try? JSONSerialization.jsonObject(with: data)) as? [[String: Any]] ?? []
    }

    private func judge(_ targets: [Target], _ outcome: Outcome) -> (text: String, isMet: Bool) {
        var texts: [String] = []
        var isMet = true
        for target in targets {
            switch target {
            case .limit(let factor):
                texts.append("≤ \(factor)× limit")
                if let limit = outcome.limit { isMet = isMet && outcome.ours <= factor * limit }
            case .rate(let part):
                texts.append("≥ \(part)× the limit's rate")
                if let limit = outcome.limit { isMet = isMet && outcome.ours * part <= limit }
            case .faster(let factor, let name):
                texts.append("≥ \(factor)× faster than \(name)")
                for peer in outcome.peers where peer.name == name {
                    isMet = isMet && outcome.ours * factor <= peer.value
                }
            case .below(let amount):
                texts.append("< \(amount) \(outcome.unit.rawValue)")
                isMet = isMet && outcome.ours < amount
            }
        }
        return (texts.joined(separator: ", "), isMet)
    }

    private static func number(_ value: Double) -> String {
        String(format: value < 1 ? "%.4f" : value < 10 ? "%.2f" : "%.1f", value)
    }
    private static func ratio(_ value: Double, _ base: Double) -> String { String(format: "%.2f×", value / base) }
    private static func rounded(_ value: Double) -> Double { (value * 10_000).rounded() / 10_000 }
}
