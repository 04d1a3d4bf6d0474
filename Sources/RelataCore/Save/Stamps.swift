import Foundation

extension AttributeType {
    /// A stamp in the column's encoding.
    package func stamp(_ date: Date) -> Value {
        guard let microseconds = DateText.microseconds(of: date) else { return .null }
        guard case .date(let encoding) = self else { return .integer(microseconds) }
        return Value(microseconds: microseconds, encoding: encoding) ?? .null
    }
}

extension Table {
    /// The value of the table's update stamp.
    package func stampValue(_ date: Date) -> Value {
        entity.updatedAt.flatMap { entity.attribute($0) }?.type.stamp(date) ?? .null
    }

    /// The properties that any change of a row writes.
    package var stampProperties: [String] { [entity.revision, entity.updatedAt].compactMap(\.self) }
}

extension Entity {
    /// Whether a write changes attributes automatically.
    package var hasStamps: Bool { revision != nil || createdAt != nil || updatedAt != nil }
}
