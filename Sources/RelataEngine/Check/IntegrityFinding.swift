import RelataCore

/// Something in a database that contradicts its schema, and what to do about it.
public struct IntegrityFinding: Hashable, Sendable, CustomStringConvertible {
    /// What kind of contradiction it is.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// SQLite finds its own structures damaged.
        case damage
        /// References to objects that aren't there.
        case danglingReference
        /// Foreign keys that SQLite can't follow: what they point at doesn't exist, or isn't unique.
        case brokenForeignKey
        /// Objects without a primary key.
        case missingKey
        /// Objects that share values which should be unique.
        case duplicate
        /// Relationships that hold fewer or more objects than declared.
        case count
        /// Members of an ordered relationship without a position, or with the same one.
        case position
        /// Search indexes that lack objects, hold wrong words of them, or hold objects that are gone.
        case search
        /// Objects that can't be read as they are declared.
        case undecodable
    }

    /// What kind of contradiction it is.
    public let kind: Kind
    /// What it is about: `Book.genre`, or the file's name for damage.
    public let subject: String
    /// How many objects, references or rows it concerns.
    public let count: Int
    /// What is wrong, with the first few objects.
    public let message: String
    /// What to do about it. SQL in it is one statement that can be run as it is.
    public let mend: String
    /// What mends it safely; `nil` where only a person can say what is right.
    public internal(set) var repair: IntegrityRepair?

    package init(
        kind: Kind, subject: String, count: Int, message: String, mend: String, repair: IntegrityRepair? = nil
    ) {
        self.kind = kind
        self.subject = subject
        self.count = count
        self.message = message
        self.mend = mend
        self.repair = repair
    }

    /// `Book.genre: 2 references to …`
    public var description: String { "\(subject): \(message)" }
}
