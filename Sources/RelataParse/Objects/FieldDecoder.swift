import Foundation
import RelataCore
import RelataRecords

/// Converts values of fields from clients to values of columns.
struct FieldDecoder {
    let parseClass: ParseClass
    let field: Field

    /// The value of a field's column.
    ///
    /// - Throws: ``ParseError`` 111 for a value of another type.
    func value(_ json: JSONValue) throws(ParseError) -> Value {
        guard case .column(let column) = field.storage else { throw mismatch(json) }
        if json.isNull { return .null }
        let type = parseClass.table.columns[column].type
        let value: Value? =
            switch type {
            case .boolean: json.bool.map { .integer($0 ? 1 : 0) }
            case .integer: json.integer.map { .integer($0) }
            case .real:
                if parseClass.table.columns[column].keepsIntegers, let number = json.integer {
                    .integer(number)
                } else {
                    try checked(json).number.map { .real($0) }
                }
            case .decimal: json.number == nil ? nil : .text(JSONWriter.text(json))
            case .text, .uuid: json.string.flatMap { Value.text($0).stored(as: type) }
            case .date: Self.microseconds(json).flatMap { Value.integer($0).stored(as: type) }
            case .data: Self.bytes(json).map { .blob($0) }
            case .json: try self.json(json)
            }
        guard let value, !value.isNull else { throw mismatch(json) }
        return value
    }

    /// Checks that the column of the field doesn't round a whole number.
    ///
    /// - Throws: ``ParseError`` 111 if the column was made by an earlier version, for floating-point numbers, and would round it.
    func checked(_ json: JSONValue) throws(ParseError) -> JSONValue {
        guard field.canKeepIntegers, let number = json.integer, number.isRoundedByDouble else { return json }
        throw ParseError(
            .incorrectType,
            "\(parseClass.name).\(field.name): \(number) would be rounded, because an earlier version made the column, for floating-point numbers: set the field to that number on a server in development mode, or convert the column by hand as the guide to PostgreSQL says"
        )
    }

    /// Checks a value of a field that doesn't exist yet.
    ///
    /// - Throws: ``ParseError`` 111 for an invalid value of a type.
    static func validate(_ json: JSONValue, as type: FieldType, in field: String) throws(ParseError) {
        guard try isValid(json, as: type, in: field) else {
            throw ParseError(.incorrectType, "\(field): the value isn't a valid \(type)")
        }
    }

    /// Whether a value with a type, or an array, is valid for its type.
    private static func isValid(
        _ json: JSONValue, as type: FieldType, in field: String
    ) throws(ParseError) -> Bool {
        switch type {
        case .date: microseconds(json) != nil
        case .bytes: bytes(json) != nil
        case .file: json["__type"] == "File" && json["name"]?.string != nil
        case .geoPoint: try GeoPoint(json, of: field) != nil
        case .polygon: try Polygon(json, of: field) != nil
        case .pointer: Pointer(json) != nil
        case .array: json.array != nil
        default: true
        }
    }

    /// A point in time: `{"__type": "Date", "iso": "…"}`, or its text alone. Fractions below a millisecond are dropped:
    /// clients don't see them, so queries wouldn't find them.
    static func microseconds(_ json: JSONValue) -> Int64? {
        let text = json["__type"]?.string == "Date" ? json["iso"]?.string : json.string
        guard let microseconds = text.flatMap({ DateText.microseconds(text: $0) }) else { return nil }
        let rest = microseconds % 1000
        return microseconds - (rest < 0 ? rest + 1000 : rest)
    }

    /// Bytes: `{"__type": "Bytes", "base64": "…"}`.
    static func bytes(_ json: JSONValue) -> Data? {
        guard json["__type"]?.string == "Bytes", let text = json["base64"]?.string else { return nil }
        return Data(base64Encoded: text)
    }

    /// The text of a column that holds JSON.
    private func json(_ json: JSONValue) throws(ParseError) -> Value? {
        if field.type == .polygon {
            return try Polygon(json, of: field.name).map { .text(JSONWriter.canonicalText($0.json)) }
        }
        let isRight =
            switch field.type {
            case .object: json.object != nil && json["__type"] == nil || field.isAnyJSON
            default: try Self.isValid(json, as: field.type, in: field.name)
            }
        return isRight ? .text(JSONWriter.canonicalText(json)) : nil
    }

    private func mismatch(_ json: JSONValue) -> ParseError {
        let given = (try? FieldType(of: json, in: field.name)) ?? .object
        guard given != field.type else {
            return ParseError(.incorrectType, "\(parseClass.name).\(field.name): the value isn't a valid \(field.type)")
        }
        return SchemaDraft.mismatch(parseClass.name, field.name, field.type, given)
    }

    /// The key of a pointer's target.
    ///
    /// - Parameter isNew: Whether a link is added, and not only removed.
    /// - Throws: ``ParseError`` 111 for another class, 101 for an id that no object can have, and for an object that is
    ///   hidden from the caller, with the text for a missing one.
    func key(
        _ pointer: Pointer, in transaction: ParseTransaction, isNew: Bool = true
    ) throws(ParseError) -> KeyValue {
        guard pointer.className == field.type.targetClass, let target = transaction.classes[pointer.className] else {
            throw SchemaDraft.mismatch(parseClass.name, field.name, field.type, .pointer(pointer.className))
        }
        guard let key = try transaction.key(pointer.objectID, of: target) else {
            throw ParseError(
                .objectNotFound, "\(pointer.className) has no object \(pointer.objectID.prefix(64))", status: 400)
        }
        do {
            if isNew, try transaction.connection.firstHidden(of: [key], in: target.table, transaction.compiler) != nil {
                throw RelataError.invalidReference(entity: parseClass.name, property: field.name, key: key)
            }
        } catch {
            throw ParseError(error)
        }
        return key
    }
}

/// A place on Earth: `{"__type": "GeoPoint", "latitude": 40, "longitude": -30}`.
struct GeoPoint: Hashable, Sendable {
    let latitude: Double
    let longitude: Double

    /// - Throws: ``ParseError`` 111 for degrees that aren't on Earth; `nil` means no place.
    init?(_ json: JSONValue, of field: String) throws(ParseError) {
        guard json["__type"] == "GeoPoint", let latitude = json["latitude"]?.number,
            let longitude = json["longitude"]?.number
        else { return nil }
        try self.init(latitude: latitude, longitude: longitude, of: field)
    }

    /// - Throws: ``ParseError`` 111 for degrees that aren't on Earth.
    init(latitude: Double, longitude: Double, of field: String) throws(ParseError) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else {
            throw ParseError(.incorrectType, "\(field): latitudes must be in -90...90, and longitudes in -180...180")
        }
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// An area on Earth: `{"__type": "Polygon", "coordinates": [[0, 0], [0, 1], [1, 1], [0, 0]]}`, latitudes first. The
/// last corner is the first, whether it was sent twice or not.
struct Polygon: Hashable, Sendable {
    let coordinates: [[Double]]

    /// - Throws: ``ParseError`` 111 for degrees that aren't on Earth and fewer than three corners; `nil` means no area.
    init?(_ json: JSONValue, of field: String) throws(ParseError) {
        guard json["__type"] == "Polygon", let corners = json["coordinates"]?.array else { return nil }
        var coordinates: [[Double]] = []
        for corner in corners {
            guard let pair = corner.array, pair.count == 2, let latitude = pair[0].number,
                let longitude = pair[1].number
            else { return nil }
            let place = try GeoPoint(latitude: latitude, longitude: longitude, of: field)
            coordinates.append([place.latitude, place.longitude])
        }
        guard Set(coordinates).count >= 3 else {
            throw ParseError(
                .incorrectType, "\(field): GeoJSON: Loop must have at least 3 different vertices")
        }
        if coordinates.first != coordinates.last { coordinates += coordinates.prefix(1) }
        self.coordinates = coordinates
    }

    /// The value on the wire, and as it is stored.
    var json: JSONValue {
        [
            "__type": "Polygon",
            "coordinates": .array(coordinates.map { .array($0.map { JSONValue(number: $0) }) }),
        ]
    }
}
