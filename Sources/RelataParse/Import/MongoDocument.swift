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
    func object(_ types: [String: String]) -> JSONObject {
        var object: JSONObject = [:]
        if let id = members["_id"] { object["objectId"] = Self.plain(id) }
        for (name, key) in [("createdAt", "_created_at"), ("updatedAt", "_updated_at")] {
            if let date = members[key].flatMap(Self.date) { object[name] = .string(date) }
        }
        var authData: JSONObject = [:]
        for (name, value) in members where !Self.left.contains(name) && !value.isNull {
            if name.hasPrefix("_p_") {
                object[String(name.dropFirst(3))] = Self.pointer(value)
            } else if name.hasPrefix("_auth_data_") {
                authData[String(name.dropFirst(11))] = Self.plain(value)
            } else if name == "_hashed_password" || !name.hasPrefix("_") {
                object[name] = Self.value(value, types[name])
            }
        }
        if !authData.isEmpty { object["authData"] = .object(authData) }
        if let list = accessList { object["ACL"] = list }
        return object
    }

    /// The access list; `nil` for an object that everybody may read and write.
    private var accessList: JSONValue? {
        guard members["_rperm"] != nil || members["_wperm"] != nil else { return nil }
        var rights: [String: JSONObject] = [:]
        for (key, right) in [("_rperm", "read"), ("_wperm", "write")] {
            // If the list is missing, everybody has the right.
            for name in members[key]?.array?.compactMap(\.string) ?? ["*"] {
                rights[name, default: [:]][right] = true
            }
        }
        return .object(
            JSONObject(rights.sorted { $0.key < $1.key }.map { ($0.key, .object($0.value)) }))
    }

    /// The pointer in a text such as `Author$x7Yz`.
    private static func pointer(_ value: JSONValue) -> JSONValue? {
        guard let text = value.string, let dollar = text.firstIndex(of: "$") else { return nil }
        return [
            "__type": "Pointer", "className": .string(String(text[..<dollar])),
            "objectId": .string(String(text[text.index(after: dollar)...])),
        ]
    }

    private static func value(_ value: JSONValue, _ type: String?) -> JSONValue {
        let plain = plain(value)
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
    static func plain(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map(plain))
        case .object(let object):
            if object.count == 1, let (name, inner) = object.first.map({ ($0.key, $0.value) }),
                name.hasPrefix("$")
            {
                return special(name, inner) ?? value
            }
            return .object(JSONObject(object.map { ($0.key, plain($0.value)) }))
        default: return value
        }
    }

    private static func special(_ name: String, _ value: JSONValue) -> JSONValue? {
        switch name {
        case "$oid": return value
        case "$numberInt", "$numberLong":
            return value.string.flatMap { Int64($0) }.map { .integer($0) } ?? value
        case "$numberDouble", "$numberDecimal":
            return value.string.flatMap { Double($0) }.flatMap { $0.isFinite ? .double($0) : nil }
                ?? value
        case "$date":
            return date(["$date": value]).map { ["__type": "Date", "iso": .string($0)] }
        case "$binary":
            guard let text = value.string ?? value["base64"]?.string else { return nil }
            return ["__type": "Bytes", "base64": .string(text)]
        default: return nil
        }
    }

    /// A date in Parse's form, from text or from milliseconds since 1970.
    private static func date(_ value: JSONValue) -> String? {
        let inner = value["$date"] ?? value
        if let text = inner.string {
            return DateText.microseconds(text: text).map { DateText.parseText(microseconds: $0) }
        }
        let milliseconds = inner.integer ?? inner["$numberLong"]?.string.flatMap { Int64($0) }
        guard let milliseconds,
            case (let microseconds, let isTooLarge) = milliseconds.multipliedReportingOverflow(by: 1000),
            !isTooLarge
        else { return nil }
        return DateText.parseText(microseconds: microseconds)
    }
}
