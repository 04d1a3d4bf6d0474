import RelataCore
import RelataRecords

/// The classes of users and their rights. They are created when they are first needed.
enum InternalClasses {
    static let user = "_User"
    static let session = "_Session"
    static let role = "_Role"
    /// The access lists of objects. Objects with equal lists share one.
    static let accessList = "_AccessList"
    /// The rights of one user or role in an access list.
    static let accessEntry = "_AccessEntry"
    /// The records of files. The contents are stored elsewhere.
    static let file = "_File"

    /// The name of the link from an object to its access list, in each class.
    static let link = "ACL"
    /// The attribute of an access list that contains the list as clients see it.
    static let permissions = "permissions"

    /// The classes that clients see, by Parse's names.
    static let ofClients: Set = [user, session, role]
    /// The classes that clients don't see.
    static let hidden = Set([accessList, accessEntry, file] + AccountClasses.all + ServiceClasses.hidden)

    /// The fields of a user that only this user and the master key can read.
    static let privateFields: Set = ["email", "emailVerified", "authData"]
    /// The fields of a user that have special rules when a request writes them.
    static let userFields: Set = ["username", "password", "email", "emailVerified", "authData", "sessionToken"]

    /// Whether a class is one of the server's own.
    static func contains(_ name: String) -> Bool {
        ofClients.contains(name) || hidden.contains(name) || ServiceClasses.visible.contains(name)
    }

    /// Whether an attribute is hidden from clients, such as a password's hash or the key that makes a name unique.
    static func hides(_ property: String, of className: String) -> Bool {
        property.utf8.first == UInt8(ascii: "_") && contains(className)
    }

    /// Whether the server needs a field of a class.
    static func needs(_ field: String, in className: String) -> Bool {
        contains(className) && entity(className).property(field) != nil
    }

    /// The link to an object's access list.
    ///
    /// - Parameter column: The column of the link.
    static func accessLink(column: String = link) -> Property {
        .relationship(
            Relationship(
                link, target: accessList, kind: .toOne(isOptional: true, columns: [column]), onTargetDelete: .deny))
    }

    /// The entity of a class.
    static func entity(_ name: String) -> Entity {
        if let entity = AccountClasses.entity(name) ?? ServiceClasses.entity(name) { return entity }
        var entity = SchemaDraft.newEntity(name)
        func text(_ name: String, isOptional: Bool = true) -> Property {
            .attribute(Attribute(name, type: .text, isOptional: isOptional))
        }
        switch name {
        case user:
            entity.properties += [
                text("username"), text("email"),
                .attribute(Attribute("emailVerified", type: .boolean, isOptional: true)),
                .attribute(Attribute("authData", type: .json, isOptional: true)), text("_usernameKey"),
                text("_emailKey"), text("_anonymousKey"), text("_password"), accessLink(),
            ]
            entity.uniques = [["_usernameKey"], ["_emailKey"], ["_anonymousKey"]]
        case session:
            entity.properties += [
                .relationship(
                    Relationship(
                        "user", target: user, kind: .toOne(isOptional: false, columns: ["user"]),
                        onTargetDelete: .cascade)),
                .attribute(Attribute("createdWith", type: .json, isOptional: true)),
                .attribute(Attribute("restricted", type: .boolean, isOptional: true)),
                .attribute(Attribute("expiresAt", type: .date(.microseconds), isOptional: true)),
                text("installationId"), text("_token", isOptional: false),
            ]
            entity.uniques = [["_token"]]
        case role:
            entity.properties += [
                text("name", isOptional: false),
                .relationship(RelationshipDetails().relation("users", of: role, to: user)),
                .relationship(RelationshipDetails().relation("roles", of: role, to: role)), accessLink(),
            ]
            entity.uniques = [["name"]]
        case accessList:
            entity.properties = [
                .attribute(Attribute("objectId", type: .text)), .attribute(Attribute(permissions, type: .text)),
            ]
            (entity.createdAt, entity.updatedAt) = (nil, nil)
        case file:
            entity.properties = [
                text("name", isOptional: false), text("content", isOptional: false),
                .attribute(Attribute("size", type: .integer)),
                .attribute(Attribute("metadata", type: .json, isOptional: true)),
                .attribute(Attribute("tags", type: .json, isOptional: true)),
                .attribute(Attribute("createdAt", type: .date(.microseconds))),
                // Whether an object has ever referred to the file, and the time since which none does.
                .attribute(Attribute("isUsed", type: .boolean, isOptional: true)),
                .attribute(Attribute("unusedSince", type: .date(.microseconds), isOptional: true)),
            ]
            entity.key = ["name"]
            entity.indexes = [["content"], ["unusedSince"]]
            (entity.createdAt, entity.updatedAt) = ("createdAt", nil)
        default:
            entity.properties = [
                .relationship(
                    Relationship(
                        "list", target: accessList, kind: .toOne(isOptional: false, columns: ["list"]),
                        onTargetDelete: .cascade)),
                .attribute(Attribute("principal", type: .text)),
                .attribute(Attribute("canRead", type: .boolean)), .attribute(Attribute("canWrite", type: .boolean)),
            ]
            entity.key = ["list", "principal"]
            entity.indexes = [["principal"]]
            (entity.createdAt, entity.updatedAt) = (nil, nil)
        }
        return entity
    }

    /// The options of a class, in addition to its entity.
    static func options(_ name: String) -> ClassOptions? {
        var options = ClassOptions()
        switch name {
        case user: options.fields["authData"] = FieldOptions(type: .object)
        case session: options.fields["createdWith"] = FieldOptions(type: .object)
        case ServiceClasses.installation: return InstallationClass.options
        case ServiceClasses.jobStatus:
            options.fields["params"] = FieldOptions(type: .object)
            options.permissions = .closed
        default: return nil
        }
        return options
    }
}

extension SchemaDraft {
    /// Adds the classes of users and their rights that don't exist yet.
    ///
    /// - Parameter others: Further classes that only the server uses.
    mutating func addUsers(with others: [String] = []) {
        addAccessLists()
        for name in [InternalClasses.user, InternalClasses.session, InternalClasses.role] + others {
            addInternalClass(name)
        }
    }

    private mutating func addAccessLists() {
        for name in [InternalClasses.accessList, InternalClasses.accessEntry] { addInternalClass(name) }
    }

    /// Adds access lists to the objects of a class, unless they have them.
    mutating func guardClass(_ name: String) {
        addAccessLists()
        edit(name) { entity, _ in
            guard entity.property(InternalClasses.link) == nil else { return }
            // Clients may have a field `acl`, and SQL doesn't distinguish the two names.
            let taken = entity.properties.flatMap(\.columns)
            var column = InternalClasses.link
            while taken.contains(where: { $0.isSameName(as: column) }) { column = "_" + column }
            entity.properties.append(InternalClasses.accessLink(column: column))
        }
    }
}

extension Property {
    /// The columns of the property.
    fileprivate var columns: [String] {
        switch self {
        case .attribute(let attribute): return [attribute.column]
        case .relationship(let relationship):
            guard case .toOne(_, let columns) = relationship.kind else { return [] }
            return columns
        }
    }
}
