extension KeyValue {
    /// The possible keys of a text in parts if keys are stored as other types than their columns', those of the
    /// columns' own types first.
    ///
    /// - Parameters:
    ///   - parts: The parts, each with the type of its column, and whether the column may hold other types.
    ///   - value: Reads a part as a value of the first type, in a column of the second; `nil` for an invalid part.
    package static func readings(
        _ parts: [(text: String, type: AttributeType, holdsOthers: Bool)],
        _ value: (String, AttributeType, AttributeType) -> Value?
    ) -> [KeyValue] {
        var keys: [[Value]] = [[]]
        for (text, own, holdsOthers) in parts {
            var values: [Value] = []
            for type in holdsOthers ? [own, .integer, .real, .text, .data] : [own] {
                if let value = value(text, type, own), !values.contains(value) { values.append(value) }
            }
            // A key has a few parts, and a part a few readings.
            keys = keys.flatMap { key in values.prefix(keys.count > 64 ? 1 : values.count).map { key + [$0] } }
        }
        return keys.map { KeyValue($0) }
    }
}

extension PredicateLiteral {
    /// The possible values of the constant in a column with values of any type: a literal `7` doesn't distinguish the
    /// number from the text. An argument has one type.
    var readings: [Value]? {
        switch self {
        case .text(let text):
            let number = Double(text).flatMap { $0.isFinite ? Value.real($0) : nil }
            let bytes = Value(literal: text).flatMap { if case .blob = $0 { $0 } else { nil } }
            return [.text(text)] + [Int64(text).map { .integer($0) }, number, bytes].compactMap(\.self)
        case .number(let text): return plainValue.map { [$0, .text(text)] }
        case .boolean, .argument(.value): return plainValue.map { [$0] }
        case .argument(.key(let key)): return key.values.count == 1 ? key.values : nil
        case .null, .argument: return nil
        }
    }
}
