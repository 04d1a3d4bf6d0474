import RelataCore
import Testing

/// Text in columns of equal width.
@Suite struct DisplayTextTests {
    @Test func wideCharactersTakeTwoColumns() {
        #expect(DisplayText.width("abc") == 3)
        #expect(DisplayText.width("书籍!") == 5)
        #expect(DisplayText.width("e\u{301}") == 1)
        #expect(DisplayText.width("") == 0)
    }

    @Test func truncationLeavesRoomForTheEllipsis() {
        #expect(DisplayText.shortened("abcdef", to: 6) == "abcdef")
        #expect(DisplayText.shortened("abcdefg", to: 6) == "abcde…")
        #expect(DisplayText.shortened("书籍书籍", to: 6) == "书籍…")
        #expect(DisplayText.shortened("书籍书籍", to: 7) == "书籍书…")
        #expect(DisplayText.shortened("abc", to: 1) == "…")
    }

    @Test func controlCharactersAreShownAsPictures() {
        #expect(DisplayText.visible("a\n\u{1B}[0m\u{7F}\u{85}b") == "a\u{240A}\u{241B}[0m\u{2421}\u{FFFD}b")
        #expect(DisplayText.visible("plain é") == "plain é")
    }
}
