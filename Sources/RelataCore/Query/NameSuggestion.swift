/// Finds the name that was meant.
package enum NameSuggestion {
    /// `: did you mean title?` for the most similar name, or all names if none is similar.
    package static func hint(for name: String, among names: [String]) -> String {
        if let near = nearest(to: name, among: names) { return ": did you mean \(near)?" }
        return names.isEmpty ? "" : ": it has \(names.joined(separator: ", "))"
    }

    /// The name that differs from `name` by the fewest edits, if it is at most a third of its letters, case aside.
    package static func nearest(to name: String, among names: [String]) -> String? {
        let wanted = Array(name.lowercased())
        let best = names.map { ($0, distance(wanted, Array($0.lowercased()))) }.min { $0.1 < $1.1 }
        guard let best, best.1 <= max(1, wanted.count / 3) else { return nil }
        return best.0
    }

    /// Insertions, deletions, replacements and swaps of neighbours.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var rows = [Array(0...right.count)]
        for (i, character) in left.enumerated() {
            var row = [i + 1]
            for (j, other) in right.enumerated() {
                var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (character == other ? 0 : 1))
                if i > 0, j > 0, character == right[j - 1], left[i - 1] == other {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
