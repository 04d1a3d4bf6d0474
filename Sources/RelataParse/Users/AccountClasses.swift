import Foundation
import RelataCore

/// The classes of account data that only the server uses. A class is created when an option first needs it. Clients
/// can't see these classes.
enum AccountClasses {
    /// The tokens of the links in mails. A link works once; there is one token for each user and purpose.
    static let token = "_UserToken"
    /// The hashes of users' earlier passwords.
    static let password = "_UserPassword"
    /// The failed attempts to sign in, counted for each account.
    static let failure = "_LoginFailure"

    /// Users' identities at other services, by the digests of their ids.
    static let identity = "_UserIdentity"

    /// The users whose passwords still have another server's hash.
    static let imported = "_ImportedPassword"

    static let all = [token, password, failure, identity, imported]

    /// The classes that the options need.
    static func needed(by options: ParseService.Options) -> [String] {
        var names: [String] = []
        if options.mail != nil { names.append(token) }
        if options.passwords.areRemembered { names.append(password) }
        if options.lockout != nil { names.append(failure) }
        if !options.signIn.isEmpty { names.append(identity) }
        return names
    }

    /// The entity of a class; `nil` for any other class.
    static func entity(_ name: String) -> Entity? {
        func attribute(_ name: String, _ type: AttributeType) -> Property { .attribute(Attribute(name, type: type)) }
        let user = Property.relationship(
            Relationship(
                "user", target: InternalClasses.user, kind: .toOne(isOptional: false, columns: ["user"]),
                onTargetDelete: .cascade))
        var entity = SchemaDraft.newEntity(name)
        (entity.createdAt, entity.updatedAt) = (nil, nil)
        // Times are milliseconds since 1970.
        switch name {
        case token:
            entity.properties = [
                user, attribute("purpose", .text), attribute("digest", .text), attribute("address", .text),
                attribute("sentAt", .integer), attribute("endsAt", .integer),
            ]
            entity.key = ["user", "purpose"]
            entity.uniques = [["digest"]]
        case password:
            entity.properties = [user, attribute("setAt", .integer), attribute("hash", .text)]
            entity.key = ["user", "setAt"]
        case failure:
            entity.properties = [
                attribute("account", .text), attribute("count", .integer), attribute("endsAt", .integer),
            ]
            entity.key = ["account"]
            entity.indexes = [["endsAt"]]
        case identity:
            entity.properties = [attribute("provider", .text), attribute("digest", .text), user]
            entity.key = ["provider", "digest"]
            entity.uniques = [["user", "provider"]]
        case imported:
            entity.properties = [user, attribute("cost", .integer)]
            entity.key = ["user"]
            // Every sign-in asks for the greatest cost.
            entity.indexes = [["cost"]]
        default: return nil
        }
        return entity
    }

    /// Whether the table of a class exists and has the properties that the server needs.
    static func isThere(_ name: String, in schema: Schema) -> Bool {
        guard let known = schema[name]?.entity, let own = entity(name) ?? ServiceClasses.entity(name) else {
            return false
        }
        return own.properties.allSatisfy { known.property($0.name) != nil }
    }
}

extension ParseTransaction {
    /// The rows that a statement on the table of such a class returns.
    ///
    /// - Parameters:
    ///   - values: The parameters' values: texts and whole numbers.
    ///   - sql: Returns the SQL for the table's name and the parameters.
    func accountRows(
        _ name: String, _ values: [Value], _ sql: (_ table: String, _ parameters: [String]) -> String
    ) throws -> [[Value]] {
        try connection.values(try accountStatement(name, values, sql))
    }

    /// Runs a statement that writes to the table of such a class.
    func changeAccounts(
        _ name: String, _ values: [Value], _ sql: (_ table: String, _ parameters: [String]) -> String
    ) throws {
        try connection.execute(try accountStatement(name, values, sql))
    }

    private func accountStatement(
        _ name: String, _ values: [Value], _ sql: (_ table: String, _ parameters: [String]) -> String
    ) throws -> SQLStatement {
        guard AccountClasses.isThere(name, in: storedClasses.schema), let table = storedClasses.schema[name] else {
            throw AccountClasses.all.contains(name) ? ParseError.usersTableIsForeign : ParseError.tableIsForeign(name)
        }
        let dialect = connection.dialect
        let parameters = values.enumerated().map { place, value in
            dialect.parameter(place + 1, as: value.wholeNumber == nil ? .text : .integer)
        }
        return SQLStatement(sql(dialect.quote(table.entity.table), parameters), values.map { .value($0) })
    }

    /// The time of the transaction, in the unit of these tables.
    var milliseconds: Int64 { Self.milliseconds(now) }

    /// A time in the unit of these tables.
    static func milliseconds(_ time: Date) -> Int64 { Int64((time.timeIntervalSince1970 * 1000).rounded()) }
}

extension Value {
    /// The value as a whole number.
    var wholeNumber: Int64? { if case .integer(let number) = self { number } else { nil } }
    /// The value as text.
    var plainText: String? { if case .text(let text) = self { text } else { nil } }
}
