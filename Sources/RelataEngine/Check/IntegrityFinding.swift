import RelataCore

/// A contradiction between a database and its schema, and the remedy.
public struct IntegrityFinding: Hashable, Sendable, CustomStringConvertible {
    /// The kind of contradiction.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// SQLite finds its own structures damaged.
        case damage
        /// References to missing objects.
        case danglingReference
        /// Foreign keys that SQLite can't follow: their target doesn't exist, or isn't unique.
        case brokenForeignKey
        /// Objects without a primary key.
        case missingKey
        /// Objects that share values which should be unique.
        case duplicate
        /// Relationships that hold fewer or more objects than declared.
        case count
        /// Members of an ordered relationship without a position, or with equal ones.
        case position
        /// Search indexes with missing objects, wrong words, or deleted objects.
        case search
        /// Objects that can't be read as they are declared.
        case undecodable
    }

    /// The kind of contradiction.
    public let kind: Kind
    /// The subject: `Book.genre`, or the file's name for damage.
    public let subject: String
    /// The number of objects, references or rows that it concerns.
    public let count: Int
    /// The contradiction, with the first few objects.
    public let message: String
    /// The remedy. SQL in it is one complete statement.
    public let fix: String
    /// A safe repair; `nil` if a person must decide.
    public internal(set) var repair: IntegrityRepair?

    package init(
        kind: Kind, subject: String, count: Int, message: String, fix: String, repair: IntegrityRepair? = nil
    ) {
        self.kind = kind
        self.subject = subject
        self.count = count
        self.message = message
        self.fix = fix
        self.repair = repair
    }

    /// `Book.genre: 2 references to …`
    public var description: String { "\(subject): \(message)" }
}
