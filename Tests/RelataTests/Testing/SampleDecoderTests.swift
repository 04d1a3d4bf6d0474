import Testing

@testable import RelataTesting

/// Values of types that decode themselves, made from random numbers.
@Suite struct SampleDecoderTests {
    private func values<Value: Decodable>(_ type: Value.Type, _ count: Int = 200) throws -> [Value] {
        let decoder = SampleDecoder(SampleRandom(seed: 11))
        return try (0..<count).map { _ in try decoder.value(of: type) }
    }

    @Test func typesThatAlwaysContainThemselvesAreRefused() throws {
        let decoder = SampleDecoder(SampleRandom(seed: 11))
        for _ in 0..<2 {
            #expect {
                try decoder.value(of: Endless.self)
            } throws: { error in
                guard case DecodingError.dataCorrupted(let context) = error else { return false }
                return context.debugDescription == "Endless contains itself"
            }
        }
        // The refusal leaves the decoder as it was.
        #expect(try (0...99).contains(decoder.value(of: Int.self)))
    }

    @Test func typesThatMayContainThemselvesEnd() throws {
        let trees = try values(Tree.self)
        #expect(trees.allSatisfy { !$0.branches.isEmpty && !$0.others.isEmpty })
        #expect(trees.allSatisfy { (2..<8).contains($0.depth) })
    }

    @Test func singleValuesAreSetOrNot() throws {
        let labels = try values(Caption.self).map(\.text)
        #expect(labels.contains(nil) && labels.contains { $0?.isEmpty == false })
        #expect(try values(Caption.self).map(\.text) == labels)
    }

    @Test func nestedContainersHaveTheirMembers() throws {
        let routes = try values(Route.self)
        #expect(routes.allSatisfy { !$0.name.isEmpty && (0...99).contains($0.level) })
        #expect(routes.allSatisfy { (1...3).contains($0.stops.count) && (1...3).contains($0.legs.count) })
        #expect(routes.allSatisfy { $0.legs.allSatisfy { (1...3).contains($0.count) } })
        #expect(routes.flatMap(\.stops).allSatisfy { !$0.isEmpty })
        #expect(Set(routes.map(\.level)).count > 20 && Set(routes.map(\.stops.count)) == [1, 2, 3])
    }

    @Test func subclassesGetTheirInheritedMembers() throws {
        let ships = try values(Ferry.self)
        #expect(ships.allSatisfy { !$0.name.isEmpty && (0...99).contains($0.decks) })
        #expect(Set(ships.map(\.decks)).count > 20)
    }
}

private final class Endless: Decodable { let next: Endless }

private struct Tree: Decodable {
    var name: String
    var branches: [Tree]
    var others: [String: Tree]

    var depth: Int { 1 + (branches + others.values).map(\.depth).reduce(0, max) }
}

private struct Caption: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = container.decodeNil() ? nil : try container.decode(String.self)
    }
}

/// Reads its members from containers in its own.
private struct Route: Decodable {
    let name: String
    let level: Int
    let stops: [String]
    let legs: [[Int]]

    private enum Keys: CodingKey { case details, name, level, stops, legs }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let details = try container.nestedContainer(keyedBy: Keys.self, forKey: .details)
        name = try details.decode(String.self, forKey: .name)
        level = try SingleNumber(from: container.superDecoder(forKey: .level)).number
        var names = try container.nestedUnkeyedContainer(forKey: .stops)
        var stops: [String] = []
        while !names.isAtEnd {
            if try names.decodeNil() { continue }
            stops.append(
                try names.nestedContainer(keyedBy: Keys.self).decode(String.self, forKey: .name))
        }
        self.stops = stops
        var lists = try container.nestedUnkeyedContainer(forKey: .legs)
        var legs: [[Int]] = []
        while !lists.isAtEnd {
            var list = try lists.nestedUnkeyedContainer()
            var leg: [Int] = []
            while !list.isAtEnd { leg.append(try SingleNumber(from: list.superDecoder()).number) }
            legs.append(leg)
        }
        self.legs = legs
    }
}

private struct SingleNumber: Decodable {
    let number: Int

    init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(Int.self) }
}

private class Ship: Decodable { let name: String }

private final class Ferry: Ship {
    let decks: Int

    private enum Keys: CodingKey { case decks }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        decks = try container.decode(Int.self, forKey: .decks)
        try super.init(from: container.superDecoder())
    }
}
