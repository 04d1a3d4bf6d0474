import RelataCore

/// The options for importing files.
public struct ImportOptions: Hashable, Sendable {
    /// The treatment of a row whose key is taken.
    public enum Conflict: String, Hashable, Sendable, CaseIterable {
        /// It is a bad row.
        case refuse
        /// The object stays unchanged.
        case skip
        /// The object gets the fields in the file.
        case update
    }

    /// The format of the files; `nil` for the format of each file's extension.
    public var format: DataFormat?
    /// The class of a file's objects, or the class and its list; `nil` for the file's name.
    public var className: String?
    /// The treatment of a row whose key is taken.
    public var onConflict = Conflict.refuse
    /// Whether bad rows are left out. Otherwise, nothing is imported if one is bad.
    public var skipsBadRows = false
    /// Whether all is checked and nothing imported.
    public var isDryRun = false
    /// Whether missing classes are created, from the contents of the files.
    public var createsClasses = false
    /// The number of rows after which the import commits, so that it can continue from there after an interruption;
    /// `nil` for one transaction.
    ///
    /// Rows may then refer only to rows before them, or in the same batch.
    public var batchSize: Int?

    /// One transaction, which refuses bad rows.
    public init() {}
}

/// A row that can't be imported.
public struct BadRow: Hashable, Sendable, CustomStringConvertible {
    /// The file.
    public let file: String
    /// The first line of the row; `nil` if it isn't known.
    public let line: Int?
    /// The class, or the class and its list; `nil` if it isn't known.
    public let className: String?
    /// The field; `nil` for the row as a whole.
    public let field: String?
    /// The problem of the row.
    public let reason: String

    /// `albums.csv:7: year: "abc" isn't an integer`
    public var description: String {
        ([file + (line.map { ":\($0)" } ?? ""), field, reason] as [String?]).compactMap(\.self).joined(separator: ": ")
    }

    /// The problem as a failure of a store.
    var failure: ValidationFailure {
        var failure = ValidationFailure(entity: className ?? file, property: field, key: nil, message: reason)
        failure.object = file + (line.map { ", line \($0)" } ?? "")
        return failure
    }
}

/// The result of an import.
public struct ImportReport: Hashable, Sendable {
    /// The results for the rows of a class or a list.
    public struct Part: Hashable, Sendable {
        /// The class, or the class and its list: `Playlist.tracks`.
        public let name: String
        /// The number of rows imported as objects or links.
        public internal(set) var inserted = 0
        /// The number of updated objects, or positions in lists.
        public internal(set) var updated = 0
        /// The number of existing ones that were left unchanged.
        public internal(set) var skipped = 0
        /// The number of bad rows.
        public internal(set) var bad = 0
    }

    /// The results, in the order of the import.
    public internal(set) var parts: [Part] = []
    /// The classes that were made.
    public internal(set) var createdClasses: [String] = []
    /// The bad rows, or the first thousand of them.
    public internal(set) var badRows: [BadRow] = []
    /// The number of bad rows.
    public internal(set) var badRowCount = 0
    /// The number of rows that an earlier, interrupted run had committed.
    public internal(set) var resumedAfter = 0

    /// The maximum number of listed bad rows.
    static let listedRows = 1000
}
