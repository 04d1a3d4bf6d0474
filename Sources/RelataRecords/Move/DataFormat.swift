/// The form of files that objects are exported to and imported from.
public enum DataFormat: String, Hashable, Sendable, CaseIterable {
    /// JSON Lines: each line is a JSON object.
    case jsonLines = "jsonl"
    /// CSV as RFC 4180 has it, under a line of names.
    case csv

    /// The format of a file's extension; `nil` for any other.
    package init?(fileName: String) {
        switch fileName.split(separator: ".", omittingEmptySubsequences: false).last?.lowercased() {
        case "jsonl", "ndjson": self = .jsonLines
        case "csv": self = .csv
        default: return nil
        }
    }
}

/// The destination of exported objects.
public enum DataDestination: Hashable, Sendable {
    /// A folder, which is created if it doesn't exist, with a file for each class and each many-to-many.
    case folder(String)
    /// One file: several classes fit into one of JSON Lines, and one class into one of CSV.
    case file(String)
    /// Standard output, as one file.
    case standardOutput
}

/// The progress of an export, an import or a copy.
public struct DataProgress: Hashable, Sendable {
    /// The class, or the class and its list: `Playlist.tracks`.
    public let name: String
    /// The number of finished rows.
    public let rows: Int

    /// The number of rows between two calls.
    static let step = 10_000
}

/// The result of an export.
public struct ExportReport: Hashable, Sendable {
    /// The exported rows of a class or a list.
    public struct Part: Hashable, Sendable {
        /// The class, or the class and its list: `Playlist.tracks`.
        public let name: String
        /// The file; `nil` on standard output.
        public let path: String?
        /// The number of rows.
        public let rows: Int
    }

    /// The parts that were written, in order.
    public internal(set) var parts: [Part] = []
    /// The lists that were left out, because one end of them was: `Playlist.tracks`.
    public internal(set) var omittedLists: [String] = []
    /// The numbers of values that aren't of their field's type, by field; SQLite lets other programs store such values.
    /// They are written unchanged, and an import refuses them.
    public internal(set) var misfits: [String: Int] = [:]
}
