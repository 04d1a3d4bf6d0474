import Foundation
import RelataCore
import Testing

@Suite struct ValueTests {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"

    @Test func textIsComparedByItsBytes() {
        #expect(Self.composed == Self.decomposed)
        #expect(Value.text(Self.composed) != .text(Self.decomposed))
        #expect(Value.text(Self.composed) == .text("caf" + "\u{e9}"))
        // The same code points in another order, which Swift considers equal, too.
        #expect(Value.text("a\u{323}\u{307}") != .text("a\u{307}\u{323}"))
        #expect(Set([KeyValue(.text(Self.composed)), KeyValue(.text(Self.decomposed))]).count == 2)
    }

    @Test func otherValuesAreComparedAsUsual() {
        let values: [Value] = [.null, .integer(1), .real(1), .text("1"), .blob(Data([1])), .uuid(UUID())]
        for (index, left) in values.enumerated() {
            for (other, right) in values.enumerated() { #expect((left == right) == (index == other)) }
        }
        #expect(Set(values + values).count == values.count)
    }

    @Test func emptyTextsAreEqual() {
        #expect(Value.text("") == .text(String("a".dropFirst())))
        #expect(Value.text("") != .text("a"))
    }

    @Test func decimalsAreNormalized() {
        for (text, form) in [
            ("1.50", "15e-1"), ("-1.5", "-15e-1"), ("+2", "2e0"), ("100", "1e2"), ("0.00", "0"), ("-0", "0"),
            ("1e3", "1e3"), ("12E-1", "12e-1"), ("x", "x"), ("1e2e3", "1e2e3"),
        ] {
            #expect(DecimalText.canonical(text) == form)
        }
        #expect(DecimalText.canonical(number: "1e2e3") == nil)
    }

    @Test func canonicallyEqualPatternsAreDistinguished() throws {
        for text in [Self.composed, Self.decomposed] { #expect(try TextPattern.matches(text, text + "(?:)")) }
    }
}
