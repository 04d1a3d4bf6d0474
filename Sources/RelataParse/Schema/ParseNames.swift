import RelataCore

/// The rules for the names of classes and fields.
enum ParseNames {
    /// Fields that every object has, and reserved names of objects.
    static let reservedFields: Set<String> = [
        "objectId", "createdAt", "updatedAt", "ACL", "className", "__type", "__op", "length",
    ]

    /// The names of the stamps in the storage of Parse's own server.
    static let storedStamps = ["_created_at": "createdAt", "_updated_at": "updatedAt"]

    /// The number of fields a class can have. SQLite's tables have 2000 columns at most, and a query needs additional
    /// ones for pointers.
    static let maximumFields = 1000

    /// The number of classes one request can create by use.
    static let maximumNewClasses = 100

    /// - Throws: ``ParseError`` 103 for a name that no class can have.
    static func checkClass(_ name: String) throws(ParseError) {
        guard isPlain(name), name.utf8.count <= 128 else {
            throw ParseError(
                .invalidClassName,
                "Invalid classname: \(name.prefix(128)), classnames can only have alphanumeric characters and _, and must start with an alpha character "
            )
        }
        guard !ReservedNames.isInternal(name), !ReservedNames.isFunction(name) else {
            throw ParseError(
                .invalidClassName,
                "Invalid classname: \(name): names that begin like this are reserved for the database")
        }
    }

    /// - Throws: ``ParseError`` 105 for a name that no field can have.
    static func checkField(_ name: String) throws(ParseError) {
        guard canBeField(name) else {
            throw ParseError(.invalidKeyName, "Invalid field name: \(name.prefix(128)).")
        }
    }

    /// Whether a field can have that name.
    static func canBeField(_ name: String) -> Bool {
        isPlain(name) && name.utf8.count <= 128 && !reservedFields.contains(name)
    }

    /// Whether a name consists of letters, digits and underscores, beginning with a letter.
    static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first) else { return false }
        return name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
