/// All errors of the library, in an enum that a program can switch over. Each message names the entity and the
/// property, and says what to do.
public enum RelataError: Error, Sendable {
    /// No object with that key.
    case notFound(ObjectReference)
    /// An object with that key is already stored.
    case alreadyExists(ObjectReference)
    /// Another object already has these values; the properties are the unique set.
    case uniqueViolation(entity: String, properties: [String])
    /// A deny rule refuses the deletion; the blockers are the objects that refer to the ones to delete.
    case deleteDenied(blockers: [Blocker])
    /// A required reference is unset, or would become so.
    case requiredReference(entity: String, property: String, hint: String)
    /// A reference points at an object that is not stored.
    case invalidReference(entity: String, property: String, key: KeyValue?)
    /// The object was changed or deleted since it was read. `stored` and `given` are the model values.
    case conflict(Conflict)
    /// Values break declared limits or `validate()`; every failure is listed.
    case validation([ValidationFailure])
    /// A link was read that isn't loaded: the entity it leads to, and the kind of link, such as `to-one`. A link is a
    /// value that doesn't know its owner.
    case notLoaded(entity: String, property: String)
    /// A to-one was read that was loaded with a condition, which its target doesn't meet.
    case excluded(ObjectReference)
    /// The models contradict themselves, or the file contradicts the models; every problem is listed.
    case schemaMismatch([SchemaProblem])
    /// A stored value doesn't fit the model's declaration, or the file is damaged.
    case corruptStore(String)
    /// Another process holds the file's lock for longer than the store waits.
    case busy(String)
    /// The store was closed.
    case closed(String)
    /// A write was asked of a store or a transaction that only reads.
    case readOnly(String)
    /// The key doesn't open the file: it is encrypted with another one, or no database at all.
    case wrongKey(path: String)
    /// A key was given for a file that isn't encrypted.
    case notEncrypted(path: String)
    /// The file can't be opened or written: for example, it is a directory or another program's file, or the disk is
    /// full.
    case fileAccess(path: String, String)
    /// The call is invalid; the message says what to do instead.
    case invalidUse(String)
    /// The text of a predicate can't be understood; `column` counts from 1.
    case predicateFormat(text: String, column: Int, String)
    /// The database's error, if no other case fits; `code` is its extended result code.
    case database(code: Int, message: String, sql: String?)
}

extension RelataError {
    /// The error of a computed value that its Swift type has no room for.
    package static func unfitting(_ value: Value, in place: String) -> RelataError {
        .invalidUse(
            "the result \(value) doesn't fit \(place): declare the attribute with a wider type, or narrow the query"
        )
    }

    /// The error of a path to another object, where an entity's own property is required.
    ///
    /// - Parameter kind: The required kind: a property or a relationship.
    package static func notOwn(
        _ path: String, _ kind: String, of entity: String, _ fix: String
    ) -> RelataError {
        .invalidUse("\(path) isn't a \(kind) of \(entity) itself: \(fix)")
    }

    private static let noSpace = "no space left: the transaction was rolled back"

    /// The error of a full disk.
    package static func noSpaceLeft(_ path: String) -> RelataError { .fileAccess(path: path, noSpace) }

    /// Whether the disk is full.
    package var isNoSpaceLeft: Bool { if case .fileAccess(_, Self.noSpace) = self { true } else { false } }

    /// The error of a file that isn't where it was opened.
    package static let hasMoved =
        "was moved, removed or replaced while it was open: restore it, or open it again"

    /// SQLite's error when its progress handler found the task cancelled.
    package static let interrupted = RelataError.database(code: 9, message: "interrupted", sql: nil)
}

/// An object that prevents a deletion.
public struct Blocker: Hashable, Sendable {
    /// The object that refers.
    public let object: ObjectReference
    /// The name of the relationship that denies, as `Entity.property`.
    public let relationship: String
    /// The object that would be deleted.
    public let blocked: ObjectReference
    /// The reason why it prevents the deletion, if it isn't a rule of the relationship: the database's own action can't
    /// be planned. `nil` for a rule.
    public let reason: String?

    /// Describes a blocker.
    package init(object: ObjectReference, relationship: String, blocked: ObjectReference, reason: String? = nil) {
        self.object = object
        self.relationship = relationship
        self.blocked = blocked
        self.reason = reason
    }

    /// The rule that denies: `Book.genre denies`.
    package var denial: String { relationship + (reason.map { ": \($0)" } ?? " denies") }
}

/// Both versions of an object that was changed concurrently.
public struct Conflict: Sendable {
    /// The object.
    public let object: ObjectReference
    /// The value that was to be saved: the model.
    public let given: any Sendable
    /// The value that is stored: the model, or `nil` if it was deleted.
    public let stored: (any Sendable)?

    /// Describes a conflict.
    package init(object: ObjectReference, given: any Sendable, stored: (any Sendable)?) {
        self.object = object
        self.given = given
        self.stored = stored
    }
}

/// One value that breaks a limit.
public struct ValidationFailure: Hashable, Sendable {
    /// The entity's name.
    public let entity: String
    /// The property's name, or `nil` for the object as a whole.
    public let property: String?
    /// The object's key, if it has one.
    public let key: KeyValue?
    /// The failed limit, and the value.
    public let message: String
    /// The object, if the call had several: by its key, as `Account 6`, or by its position among the objects of its
    /// model, as `Account no. 3`. `nil` for a call with a single object.
    public var object: String?

    /// Describes a failure.
    package init(entity: String, property: String?, key: KeyValue?, message: String) {
        self.entity = entity
        self.property = property
        self.key = key
        self.message = message
    }
}

/// One reason why models don't open, or a file doesn't fit them.
public struct SchemaProblem: Hashable, Sendable, CustomStringConvertible {
    /// The entity's name.
    public let entity: String
    /// The property's name, or `nil` for the entity as a whole.
    public let property: String?
    /// The problem and how to fix it.
    public let message: String

    /// Describes a problem.
    package init(entity: String, property: String? = nil, message: String) {
        self.entity = entity
        self.property = property
        self.message = message
    }

    /// `Book.genre: …`
    public var description: String { (property.map { "\(entity).\($0)" } ?? entity) + ": " + message }
}

extension RelataError: CustomStringConvertible {
    /// The error in one line (two for a list).
    public var description: String {
        switch self {
        case .notFound(let object): "\(object) doesn't exist: insert it, or use save to insert or update"
        case .alreadyExists(let object): "\(object) already exists: update it, or use save to insert or update"
        case .uniqueViolation(let entity, let properties):
            "another \(entity) already has the same \(properties.joined(separator: ", ")): choose another value"
        case .deleteDenied(let blockers) where blockers.isEmpty:
            "can't delete: hidden objects still refer to objects that would be deleted"
        case .deleteDenied(let blockers):
            "can't delete: "
                + Self.list(blockers.map { "\($0.object) still refers to \($0.blocked) (\($0.denial))" })
        case .requiredReference(let entity, let property, let hint): "\(entity).\(property) is required: \(hint)"
        case .invalidReference(let entity, let property, let key):
            "\(entity).\(property) points at \(key.map { "\($0), which" } ?? "an object that") isn't stored: save the target first, or link the object itself"
        case .conflict(let conflict):
            conflict.stored == nil
                ? "\(conflict.object) was deleted since it was read: insert it again or drop the change"
                : "\(conflict.object) was changed since it was read: refresh it and apply the change again"
        case .validation(let failures):
            Self.list(
                failures.map { failure in
                    let property = failure.property ?? ""
                    let place =
                        failure.object.map { property.isEmpty ? $0 : "\($0), \(property)" }
                        ?? (property.isEmpty ? failure.entity : "\(failure.entity).\(property)")
                    return "\(place): \(failure.message)"
                })
        case .notLoaded(let entity, let property):
            "\(property.withArticle) link to \(entity) isn't loaded: include it in the fetch, or query the related objects from the store"
        case .excluded(let object):
            "\(object) doesn't meet the include's condition: read 'loaded', which is unset then, or include the link without a condition"
        case .schemaMismatch(let problems): Self.list(problems.map(\.description))
        case .corruptStore(let message): message
        case .busy(let message): message
        case .closed(let message): message
        case .readOnly(let message): message
        case .wrongKey(let path):
            "the key doesn't open \(path): it is encrypted with another one, or it is not an SQLite database"
        case .notEncrypted(let path):
            "\(path) isn't encrypted: open it without a key, or copy it into an encrypted file"
        case .fileAccess(let path, let message): "\(path): \(message)"
        case .invalidUse(let message): message
        case .predicateFormat(let text, let column, let message): "\(message) at column \(column) of \"\(text)\""
        case .database(let code, let message, let sql):
            "database error \(code): \(message)\(sql.map { " in \($0)" } ?? "")"
        }
    }

    private static func list(_ lines: [String]) -> String {
        lines.count <= 8
            ? lines.joined(separator: "; ")
            : lines.prefix(8).joined(separator: "; ") + "; and \(lines.count - 8) more"
    }
}
