import Foundation

/// "Decodes" a value of any `Decodable` type from random numbers: each request of the type gets a value.
///
/// It can't generate values of types whose decoding requests too little, such as enums with associated values, or of
/// types that refuse most texts or numbers.
final class SampleDecoder: Decoder {
    var random: SampleRandom
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    /// The depth of the nested value: a type may contain itself.
    private var depth = 0

    init(_ random: SampleRandom) { self.random = random }

    /// A value of the type.
    func value<Value: Decodable>(of type: Value.Type) throws -> Value {
        if let value = known(type) as? Value { return value }
        guard depth < 8 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "\(type) contains itself"))
        }
        depth += 1
        defer { depth -= 1 }
        return try Value(from: self)
    }

    /// Generates single values, and types whose coding has a form that random parts don't have.
    private func known(_ type: Any.Type) -> Any? {
        if let type = type as? any SampleValue.Type { return type.sample(&random) }
        if let type = type as? any CaseIterable.Type {
            return AttributeSampler.cases(of: type).randomElement(using: &random)
        }
        if let type = type as? any FixedWidthInteger.Type { return number(type) }
        if let type = type as? any RawRepresentable.Type, let value = element(of: type) { return value }
        return switch ObjectIdentifier(type) {
        case ObjectIdentifier(Bool.self): random.chance(0.5)
        case ObjectIdentifier(String.self): text()
        case ObjectIdentifier(Double.self): fraction()
        case ObjectIdentifier(Float.self): Float(fraction())
        case ObjectIdentifier(Date.self): random.date()
        case ObjectIdentifier(UUID.self): random.uuid(number: nil)
        case ObjectIdentifier(Data.self): Data(random.words(1).utf8)
        case ObjectIdentifier(Decimal.self): Decimal(Int.random(in: 0...9999, using: &random)) / 100
        case ObjectIdentifier(URL.self): URL(string: "https://example.com/" + random.words(1).lowercased())
        default: nil
        }
    }

    fileprivate var isNil: Bool { depth > 4 || random.chance(0.2) }
    fileprivate var count: Int { depth > 4 ? 0 : Int.random(in: 1...3, using: &random) }
    fileprivate func text() -> String { random.words(1) }
    /// One of an enum with numbers.
    private func element<Raw: RawRepresentable>(of type: Raw.Type) -> Raw? {
        guard let number = Raw.RawValue.self as? any FixedWidthInteger.Type else { return nil }
        let values = (-10...100).compactMap {
            (number.init(exactly: $0) as? Raw.RawValue).flatMap { Raw(rawValue: $0) }
        }
        return values.randomElement(using: &random)
    }

    private func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
        Number(UInt8.random(in: 0...99, using: &random))
    }
    private func fraction() -> Double { Double(Int.random(in: 0...9999, using: &random)) / 100 }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SampleMembers(decoder: self))
    }
    func unkeyedContainer() -> any UnkeyedDecodingContainer { SampleElements(decoder: self, count: count) }
    func singleValueContainer() -> any SingleValueDecodingContainer { SampleSingle(decoder: self) }
}

/// Returns any requested single value.
private struct SampleSingle: SingleValueDecodingContainer {
    let decoder: SampleDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { decoder.isNil }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(of: type) }
}

/// Has every requested member. If the keys aren't known in advance, as in a dictionary, it has a few words.
private struct SampleMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SampleDecoder
    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        var seen: Set<String> = []
        return (0..<decoder.count).compactMap { _ in
            let name = decoder.text()
            return seen.insert(name).inserted ? Key(stringValue: name) : nil
        }
    }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { decoder.isNil }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try decoder.value(of: type) }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> { decoder.container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { decoder.unkeyedContainer() }
    func superDecoder() -> any Decoder { decoder }
    func superDecoder(forKey key: Key) -> any Decoder { decoder }
}

/// Has a few elements.
private struct SampleElements: UnkeyedDecodingContainer {
    let decoder: SampleDecoder
    let count: Int?
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var isAtEnd: Bool { currentIndex >= count ?? 0 }

    init(decoder: SampleDecoder, count: Int) {
        self.decoder = decoder
        self.count = count
    }

    mutating func decodeNil() -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        currentIndex += 1
        return try decoder.value(of: type)
    }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
        currentIndex += 1
        return decoder.container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
        currentIndex += 1
        return decoder.unkeyedContainer()
    }
    mutating func superDecoder() -> any Decoder {
        currentIndex += 1
        return decoder
    }
}
