import RelataCore

/// The type of a field, by Parse's names.
public enum FieldType: Hashable, Sendable {
    /// A value, by the kinds that Parse has.
    case string, number, boolean, date, object, array, bytes, file, geoPoint, polygon
    /// The access list of an object. Not a field of a class: every object has one.
    case acl
    /// A reference to an object of a class.
    case pointer(String)
    /// Any number of objects of a class.
    case relation(String)

    /// The name on the wire: `Number`.
    public var name: String {
        switch self {
        case .string: "String"
        case .number: "Number"
        case .boolean: "Boolean"
        case .date: "Date"
        case .object: "Object"
        case .array: "Array"
        case .bytes: "Bytes"
        case .file: "File"
        case .geoPoint: "GeoPoint"
        case .polygon: "Polygon"
        case .acl: "ACL"
        case .pointer: "Pointer"
        case .relation: "Relation"
        }
    }

    /// The class at the other end of a pointer or relation.
    public var targetClass: String? {
        switch self {
        case .pointer(let name), .relation(let name): name
        default: nil
        }
    }

    /// The type of that name; `nil` for an unknown one, or a pointer or relation without a target.
    public init?(name: String, targetClass: String? = nil) {
        switch name {
        case "Pointer":
            guard let targetClass else { return nil }
            self = .pointer(targetClass)
        case "Relation":
            guard let targetClass else { return nil }
            self = .relation(targetClass)
        default:
            let plain: [FieldType] = [
                .string, .number, .boolean, .date, .object, .array, .bytes, .file, .geoPoint, .polygon, .acl,
            ]
            guard let type = plain.first(where: { $0.name == name }) else { return nil }
            self = type
        }
    }

    /// The type of a new column for it; `nil` for a type without a column.
    var attributeType: AttributeType? {
        switch self {
        case .string: .text
        case .number: .real
        case .boolean: .boolean
        case .date: .date(.microseconds)
        case .bytes: .data
        case .object, .array, .file, .geoPoint, .polygon: .json
        case .acl, .pointer, .relation: nil
        }
    }

    /// The type of a column that a model or table declares.
    init(_ type: AttributeType) {
        self =
            switch type {
            case .boolean: .boolean
            case .integer, .real, .decimal: .number
            case .text, .uuid: .string
            case .date: .date
            case .data: .bytes
            case .json: .object
            }
    }
}

extension FieldType: CustomStringConvertible {
    /// `Number`, `*Genre` for a pointer and `Relation<Author>`, as Parse's messages have it.
    public var description: String {
        switch self {
        case .pointer(let target): "*\(target)"
        case .relation(let target): "Relation<\(target)>"
        default: name
        }
    }
}

extension FieldType: Codable {
    private enum CodingKeys: String, CodingKey { case type, targetClass }

    /// Reads `{"type": "Pointer", "targetClass": "Genre"}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decode(String.self, forKey: .type)
        guard
            let type = FieldType(
                name: name, targetClass: try container.decodeIfPresent(String.self, forKey: .targetClass))
        else {
            throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: "no type \(name)")
        }
        self = type
    }

    /// Writes `{"type": "Pointer", "targetClass": "Genre"}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .type)
        try container.encodeIfPresent(targetClass, forKey: .targetClass)
    }
}
