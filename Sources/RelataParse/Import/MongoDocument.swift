import Foundation
import RelataCore

/// An object of a Parse server as MongoDB stores it, in the extended JSON of `mongoexport`.
struct MongoDocument {
    let members: JSONObject

    /// The internal members of parse-server, which this server doesn't use.
    private static let left: Set = [
        "_acl", "_session_token", "_email_verify_token", "_email_verify_token_expires_at",
        "_perishable_token",
        "_perishable_token_expires_at", "_failed_login_count", "_account_lockout_expires_at",
        "_password_history",
        "_password_changed_at", "_tombstone", "_rperm", "_wperm", "_id", "_created_at", "_updated_at",
    ]

    /// Whether an object is such a document, not an object of the REST API.
    static func isOne(_ object: JSONObject) -> Bool {
        object["_id"] != nil && object["objectId"] == nil
    }

    /// The object in the form of the REST API, with the hash of a user's password.
    ///
    /// - Parameter types: The types of the class's fields in `_SCHEMA`: `geopoint`, `file`, `*Author`.
    func object(_ types: [String: String]) -> ImportedObject {
        var object = ImportedObject()
        let id = members["_id"] ?? .null
        object.members["objectId"] = (try? Self.plain(id))?.string.map { .string($0) }
        if object.id == nil { object.refusal = "its _id is \(Self.excerpt(id)), and must be text" }
        for (name, key) in [("createdAt", "_created_at"), ("updatedAt", "_updated_at")] {
            guard let value = members[key], !value.isNull else { continue }
            object.members[name] = Self.date(value).map { .string($0) }
            if object.members[name] == nil {
                object.oddities.append(
                    "its \(key) is \(Self.excerpt(value)), which isn't a date: it gets the time of the import")
            }
        }
        var authData: JSONObject = [:]
        for (name, value) in members where !Self.left.contains(name) && !value.isNull {
            do throws(ParseError) {
                if name.hasPrefix("_p_") {
                    let field = String(name.dropFirst(3))
                    object.members[field] = Self.pointer(value)
                    if object.members[field] == nil { object.badPointers[field] = Self.excerpt(value) }
                } else if name.hasPrefix("_auth_data_") {
                    authData[String(name.dropFirst(11))] = try Self.plain(value)
                } else if name == "_hashed_password" || !name.hasPrefix("_") {
                    object.members[name] = try Self.value(value, types[name])
                }
            } catch {
                object.refusal = object.refusal ?? "\(name): \(error.message)"
            }
        }
        if !authData.isEmpty { object.members["authData"] = .object(authData) }
        if let list = accessList(&object.oddities) { object.members["ACL"] = list }
        return object
    }

    /// The access list; `nil` for an object that everybody may read and write.
    private func accessList(_ oddities: inout [String]) -> JSONValue? {
        guard members["_rperm"] != nil || members["_wperm"] != nil else { return nil }
        var rights: [String: JSONObject] = [:]
        for (key, right) in [("_rperm", "read"), ("_wperm", "write")] {
            for name in names(in: key, with: right, &oddities) { rights[name, default: [:]][right] = true }
        }
        return .object(
            JSONObject(rights.sorted { $0.key < $1.key }.map { ($0.key, .object($0.value)) }))
    }

    /// The users and roles that have a right. If the list is missing, everybody has it; if it can't be read, nobody has
    /// it.
    private func names(in key: String, with right: String, _ oddities: inout [String]) -> [String] {
        guard let value = members[key], !value.isNull else { return ["*"] }
        guard let elements = value.array else {
            oddities.append("its \(key) is \(Self.excerpt(value)), which isn't a list: nobody may \(right) the object")
            return []
        }
        let names = elements.compactMap(\.string)
        if names.count < elements.count {
            oddities.append("its \(key) has entries that aren't texts: nobody may \(right) the object by them")
        }
        return names
    }

    /// The beginning of a value, for a note.
    private static func excerpt(_ value: JSONValue) -> String { String(JSONWriter.text(value).prefix(64)) }

    /// The pointer in a text such as `Author$x7Yz`.
    private static func pointer(_ value: JSONValue) -> JSONValue? {
        guard let text = value.string, let dollar = text.firstIndex(of: "$") else { return nil }
        return [
            "__type": "Pointer", "className": .string(String(text[..<dollar])),
            "objectId": .string(String(text[text.index(after: dollar)...])),
        ]
    }

    private static func value(_ value: JSONValue, _ type: String?) throws(ParseError) -> JSONValue {
        let plain = try plain(value)
        switch type {
        case "geopoint":
            guard let pair = plain.array, pair.count == 2 else { return plain }
            return ["__type": "GeoPoint", "latitude": pair[1], "longitude": pair[0]]
        case "polygon":
            guard let ring = plain["coordinates"]?.array?.first?.array else { return plain }
            let points = ring.compactMap { point -> JSONValue? in
                guard let pair = point.array, pair.count == 2 else { return nil }
                return .array([pair[1], pair[0]])
            }
            guard points.count == ring.count else { return plain }
            return ["__type": "Polygon", "coordinates": .array(points)]
        case "file":
            guard let name = plain.string else { return plain }
            return ["__type": "File", "name": .string(name)]
        case "date":
            guard let text = plain.string else { return plain }
            return ["__type": "Date", "iso": .string(text)]
        case "bytes":
            guard let text = plain.string else { return plain }
            return ["__type": "Bytes", "base64": .string(text)]
        default: return plain
        }
    }

    /// A value with plain JSON instead of extended JSON.
    ///
    /// - Throws: ``ParseError`` 111 for a value of MongoDB that can't be stored here, 121 for a name within an object
    ///   that can't be.
    static func plain(_ value: JSONValue) throws(ParseError) -> JSONValue {
        switch value {
        case .array(let elements):
            var plain: [JSONValue] = []
            for element in elements { plain.append(try Self.plain(element)) }
            return .array(plain)
        case .object(let object):
            if object.count == 1, let (name, inner) = object.first.map({ ($0.key, $0.value) }), name.hasPrefix("$") {
                return try special(name, inner)
            }
            // The form of older versions of `mongoexport`.
            if object.count == 2, object["$type"] != nil, let bytes = object["$binary"] {
                return try special("$binary", bytes)
            }
            var plain: JSONObject = [:]
            for (name, value) in object {
                do throws(ParseError) { try JSONValue.checkName(name) } catch {
                    throw ParseError(error.code, "\(error.message): \(name.prefix(64))")
                }
                plain[name] = try Self.plain(value)
            }
            return .object(plain)
        default: return value
        }
    }

    private static func special(_ name: String, _ value: JSONValue) throws(ParseError) -> JSONValue {
        func unfit(_ kind: String) -> ParseError {
            let text = value.string.map { String($0.prefix(64)) } ?? excerpt(value)
            return ParseError(.incorrectType, "\(text) isn't a \(kind) that can be stored")
        }
        switch name {
        case "$oid", "$symbol": return value
        case "$undefined": return .null
        case "$numberInt", "$numberLong":
            guard let number = value.integer ?? value.string.flatMap({ Int64($0) }) else { throw unfit("whole number") }
            return .integer(number)
        case "$numberDouble", "$numberDecimal":
            // Numbers are binary ones here, as in JSON: a decimal is rounded to the next.
            guard let number = value.number ?? value.string.flatMap({ Double($0) }), number.isFinite else {
                throw unfit("number")
            }
            return JSONValue(number: number)
        case "$date":
            guard let date = date(value) else { throw unfit("date") }
            return ["__type": "Date", "iso": .string(date)]
        case "$binary":
            guard let text = value.string ?? value["base64"]?.string else { throw unfit("binary value") }
            return ["__type": "Bytes", "base64": .string(text)]
        default: throw ParseError(.incorrectType, "a value of the type \(name.prefix(64)) can't be stored")
        }
    }

    /// A date in Parse's form, from text or from milliseconds since 1970; `nil` for anything else, and for years beyond
    /// those of four digits.
    private static func date(_ value: JSONValue) -> String? {
        let inner = value["$date"] ?? value
        let microseconds: Int64
        if let text = inner.string {
            guard let read = DateText.microseconds(text: text) else { return nil }
            microseconds = read
        } else {
            let milliseconds = inner.integer ?? inner["$numberLong"]?.string.flatMap { Int64($0) }
            guard let milliseconds,
                case (let scaled, let isTooLarge) = milliseconds.multipliedReportingOverflow(by: 1000), !isTooLarge
            else { return nil }
            microseconds = scaled
        }
        guard DateText.textRange.contains(microseconds) else { return nil }
        return DateText.parseText(microseconds: microseconds)
    }
}
