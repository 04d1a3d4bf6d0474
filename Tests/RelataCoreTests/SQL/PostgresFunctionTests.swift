import Foundation
import Testing

@testable import RelataCore

/// The SQL text of PostgreSQL's functions.
@Suite struct PostgresFunctionTests {
    /// The ranges of a set of characters, read back.
    private func ranges(_ text: String) throws -> [ClosedRange<UInt32>] {
        try text.matches(of: #/(?:\\u|\\U)([0-9a-f]+)(?:-(?:\\u|\\U)([0-9a-f]+))?/#).map { match in
            let first = try #require(UInt32(match.1, radix: 16))
            let last = try match.2.map { try #require(UInt32($0, radix: 16)) }
            return first...(last ?? first)
        }
    }

    @Test(
        arguments: [
            [0x41...0x41], [0x1...0x7F, 0x100...0x1FF, 0x3040...0x30FF], [0xFFFE...0x10002], [0xD000...0xE010],
            [0x2_0000...0x3_FFFF], [0x41...0x43, 0x45...0x45, 0x3_FFFE...0xE_0FFF], [],
        ] as [[ClosedRange<UInt32>]])
    func aSetOfCharactersIsWrittenAsItsRuns(_ runs: [ClosedRange<UInt32>]) throws {
        let text = CharacterClass.ranges { scalar in runs.contains { $0.contains(scalar.value) } }
        // Nothing is assigned between plane 3 and plane 14, and surrogates aren't characters.
        let parts = runs.flatMap { run -> [ClosedRange<UInt32>] in
            if run == 0xD000...0xE010 { return [0xD000...0xD7FF, 0xE000...0xE010] }
            if run.contains(0x3_FFFF), run.upperBound > 0x3_FFFF { return [run.lowerBound...0x3_FFFF] }
            return [run]
        }
        #expect(try ranges(text) == parts, "\(text)")
    }

    @Test func callsOfSessionFunctionsAreFoundByWholeNames() {
        #expect(
            PostgresFunctions.temporary(
                "SELECT relata.a(relata.b(x)), \"relata.c\", my_relata.d, norelata.e, 1+relata.f")
                == "SELECT pg_temp.a(pg_temp.b(x)), \"relata.c\", my_relata.d, norelata.e, 1+pg_temp.f")
        #expect(PostgresFunctions.temporary("SELECT 1") == "SELECT 1")
    }
}
