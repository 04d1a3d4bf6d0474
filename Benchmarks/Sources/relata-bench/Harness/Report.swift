import Foundation

/// Collects figures, prints them as a table and writes them as JSON.
struct Report {
    private var lines: [(workload: Workload, outcome: Outcome)] = []

    mutating func add(_ workload: Workload, _ outcome: Outcome) { lines.append((workload, outcome)) }

    /// Says on the terminal what is being measured, away from the table.
    func print(progress: String) {
        FileHandle.standardError.write(Data("measuring \(progress) …\n".utf8))
    }

    func printTable() {
        var table = [["workload", "ours", "limit", "ratio", "peers", "target", ""]]
        for (workload, outcome) in lines {
            let (targets, isMet) = judge(workload.targets, outcome)
            let peers = outcome.peers.map {
                "\($0.name) \(Self.number($0.value)) (\(Self.ratio($0.value, outcome.ours)))"
            }
            table.append([
                workload.name, Self.number(outcome.ours) + " " + outcome.unit.rawValue,
                outcome.limit.map(Self.number) ?? "", outcome.limit.map { Self.ratio(outcome.ours, $0) } ?? "",
                peers.joined(separator: ", "), targets, isMet ? "met" : "MISSED",
            ])
        }
        let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
        for row in table {
            Swift.print(
                zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  "))
        }
    }

    func write(to file: String) throws {
        var entries: [[String: Any]] = []
        for (workload, outcome) in lines {
            let unit = outcome.unit.rawValue
            var entry: [String: Any] = ["workload": workload.name, "ours_\(unit)": Self.rounded(outcome.ours)]
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

    private func judge(_ targets: [Target], _ outcome: Outcome) -> (text: String, isMet: Bool) {
        var texts: [String] = []
        var isMet = true
        for target in targets {
            switch target {
            case .limit(let factor):
                texts.append("≤ \(factor)× limit")
                if let limit = outcome.limit { isMet = isMet && outcome.ours <= factor * limit }
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

    private static func number(_ value: Double) -> String { String(format: value < 10 ? "%.2f" : "%.1f", value) }
    private static func ratio(_ value: Double, _ base: Double) -> String { String(format: "%.2f×", value / base) }
    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}
