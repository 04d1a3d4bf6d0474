import Foundation
import Relata
import RelataCore
import RelataEngine

/// Generates values of one attribute, in the form that its column stores.
struct AttributeSampler {
    let entity: String
    let attribute: Attribute
    /// Whether it belongs to a unique set, so that its values must differ.
    let isUnique: Bool
    let isKey: Bool
    private let type: Any.Type?
    /// The raw values of an enum with numbers.
    private var numbers: [Value] = []

    init(_ attribute: Attribute, of entity: Entity) {
        self.entity = entity.name
        self.attribute = attribute
        isKey = entity.key == [attribute.name]
        isUnique = (entity.uniques + [entity.key]).contains { $0.contains(attribute.name) }
        type = attribute.valueType.wrapped
        if attribute.type == .integer, let type = type as? any RawRepresentable.Type {
            numbers = (-10...100).map { .integer($0) }.filter { Self.hasCase(type, $0) }
        }
    }

    /// A value for the object of that number, which counts from 1; `attempt` is the number of values that were refused
    /// before.
    ///
    /// - Throws: `RelataError.invalidUse` if no value can be generated.
    func value(number: Int, attempt: Int, _ random: inout SampleRandom) throws -> Value {
        if attribute.isOptional, !isKey, random.chance(0.2) { return .null }
        var last: Value?
        for _ in 0..<20 {
            guard let value = candidate(number: number, attempt: attempt, &random), accepts(value) else { continue }
            if attribute.limits.allSatisfy({ $0.failure(of: value, type: attribute.type) == nil }) { return value }
            last = value
        }
        // A value beyond a limit is better than none: the caller may correct it.
        if let value = attribute.defaultValue ?? (attribute.isOptional ? .null : last) { return value }
        throw RelataError.invalidUse(
            "insertSample can't make a value of \(entity).\(attribute.name), \((type.map { "\($0)" } ?? "value").withArticle): "
                + "conform that type to SampleValue, or make it CaseIterable if it is an enum")
    }

    private func candidate(number: Int, attempt: Int, _ random: inout SampleRandom) -> Value? {
        if let type = type as? any SampleValue.Type { return stored(type.sample(&random)) }
        if let type = type as? any CaseIterable.Type {
            return Self.cases(of: type).randomElement(using: &random).flatMap { stored($0) }
        }
        if let number = numbers.randomElement(using: &random) { return number }
        switch attribute.type {
        case .boolean: return .integer(random.chance(0.5) ? 1 : 0)
        case .integer: return .integer(integer(number, attempt, &random))
        case .real: return .real(real(&random))
        case .decimal: return .text("\(Decimal(Int((real(&random) * 100).rounded())) / 100)")
        case .text: return .text(type == URL.self ? url(number, &random) : text(number, attempt, &random))
        case .date(let encoding): return Self.stored(random.date(), encoding)
        case .data:
            let (least, most) = lengths
            let count = least...(least + max(0, min(most - least, 8)))
            return .blob(
                Data((0..<Int.random(in: count, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
            )
        case .uuid(let encoding):
            let uuid = random.uuid(number: isKey ? number : nil)
            return encoding == .text ? .text(uuid.uuidString.lowercased()) : .uuid(uuid)
        case .json: return json(&random)
        }
    }

    // MARK: Numbers

    /// The least and the greatest number that the limits allow.
    private var bounds: (least: Double?, greatest: Double?) {
        let ranges = attribute.limits.map { limit -> (Double?, Double?) in
            switch limit {
            case .range(let minimum, let maximum): (minimum, maximum)
            case .integerRange(let minimum, let maximum): (minimum.map { Double($0) }, maximum.map { Double($0) })
            default: (nil, nil)
            }
        }
        return (ranges.compactMap(\.0).max(), ranges.compactMap(\.1).min())
    }

    /// The declared range. An open end gets a bound that leaves a range of that width.
    private func range(_ width: Double) -> ClosedRange<Double> {
        let (least, greatest) = bounds
        let lower = least ?? greatest.map { min(0, $0 - width) } ?? 0
        let upper = max(lower, greatest ?? (lower + width))
        if (upper - lower).isFinite { return lower...upper }
        // A random number needs a width that is finite.
        func clamp(_ number: Double) -> Double { min(max(number, -1e9), 1e9) }
        return clamp(lower)...clamp(upper)
    }

    private func integer(_ number: Int, _ attempt: Int, _ random: inout SampleRandom) -> Int64 {
        let bounds = range(attempt < 10 || !isUnique ? 99 : attempt < 50 ? 9999 : 999_999)
        // Exact for an integer bound that a Double can't represent.
        func whole(_ number: Double) -> Int64 { Int64(exactly: number) ?? (number < 0 ? .min : .max) }
        var (lower, upper) = (whole(bounds.lowerBound.rounded(.up)), whole(bounds.upperBound.rounded(.down)))
        for case .integerRange(let minimum, let maximum) in attribute.limits {
            lower = max(lower, minimum ?? lower)
            upper = min(upper, maximum ?? upper)
        }
        return Int64.random(in: lower...max(lower, upper), using: &random)
    }

    private func real(_ random: inout SampleRandom) -> Double {
        let bounds = range(100)
        let value = (Double.random(in: bounds, using: &random) * 100).rounded() / 100
        return min(max(value, bounds.lowerBound), bounds.upperBound)
    }

    // MARK: Text

    private var lengths: (least: Int, most: Int) {
        var (least, most) = (0, Int.max)
        for case .length(let minimum, let maximum) in attribute.limits {
            least = max(least, minimum ?? 0)
            most = min(most, maximum ?? .max)
        }
        return (least, most)
    }

    private func text(_ number: Int, _ attempt: Int, _ random: inout SampleRandom) -> String {
        for case .pattern(let pattern) in attribute.limits {
            if let pattern = SamplePattern(pattern) { return pattern.text(&random) }
        }
        let (least, most) = lengths
        if most < 12 {
            let letters = Array("abcdefghijklmnopqrstuvwxyz")
            let count = Int.random(in: min(max(1, least), most)...most, using: &random)
            return String((0..<count).map { _ in letters.randomElement(using: &random) ?? "a" })
        }
        // Two words of fifty differ often enough for a few objects; then they are counted.
        let end = isUnique && (attempt > 2 || number > 1000) ? " \(number)" : ""
        var text = random.words(2)
        while text.count + end.count < least { text += " " + random.words(1).lowercased() }
        return text.prefix(most - end.count) + end
    }

    private func url(_ number: Int, _ random: inout SampleRandom) -> String {
        "https://example.com/" + random.words(2).lowercased().replacing(" ", with: "-") + (isUnique ? "/\(number)" : "")
    }

    private func json(_ random: inout SampleRandom) -> Value? {
        guard let type = type as? any Decodable.Type else { return nil }
        let decoder = SampleDecoder(random)
        defer { random = decoder.random }
        return (try? decoder.value(of: type)).flatMap { stored($0) }
    }

    // MARK: Values of types

    /// A value of the attribute's type, as the column stores it.
    private func stored(_ value: Any) -> Value? {
        if attribute.type == .json, let value = value as? any Encodable {
            return (try? JSONEncoder().encode(value)).map { .text(String(decoding: $0, as: UTF8.self)) }
        }
        if let value = value as? any AttributeValue { return try? value.databaseValue }
        if let value = value as? any RawRepresentable { return stored(value.rawValue) }
        return nil
    }

    static func stored(_ date: Date, _ encoding: DateEncoding) -> Value? {
        guard let microseconds = DateText.microseconds(of: date) else { return nil }
        return switch encoding {
        case .microseconds: .integer(microseconds)
        case .iso8601: .text(DateText.text(microseconds: microseconds))
        case .seconds: .real(date.timeIntervalSince1970)
        }
    }

    /// Whether the attribute's type accepts that value: an app's own type may accept only some.
    private func accepts(_ value: Value) -> Bool {
        switch type {
        case let type as any AttributeValue.Type: type.init(databaseValue: value) != nil
        case let type as any RawRepresentable.Type: Self.hasCase(type, value)
        default: true
        }
    }

    private static func hasCase<Raw: RawRepresentable>(_ type: Raw.Type, _ value: Value) -> Bool {
        guard let raw = (Raw.RawValue.self as? any AttributeValue.Type)?.init(databaseValue: value) as? Raw.RawValue
        else { return false }
        return Raw(rawValue: raw) != nil
    }

    static func cases<Cases: CaseIterable>(of type: Cases.Type) -> [Any] { type.allCases.map { $0 } }
}

extension SampleRandom {
    /// A random UUID. With a number, it is a UUID in the form of `ID`, which sorts by the number.
    mutating func uuid(number: Int?) -> UUID {
        let (high, low) = (next(), next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
        let first: UInt64
        if let number {
            let milliseconds: UInt64 = 1_704_067_200_000 + UInt64(max(0, number)) * 1000  // from 2024 on, one a second
            first = milliseconds << 16 | 0x7000 | high & 0xfff
        } else {
            first = high & 0xffff_ffff_ffff_0fff | 0x4000
        }
        let bytes = [first, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
        return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }
}
