import RelataCore
import Testing

@Suite struct EntityTagTests {
    @Test func aVersionAmongThoseOfTheClientIsFound() {
        let tags = EntityTags(" \"a\", W/\"b\" ,\t\"c\"")
        for tag in ["\"a\"", "\"b\"", "W/\"a\"", "W/\"b\"", "\"c\""] { #expect(tags.contains(tag), "\(tag)") }
        for tag in ["\"d\"", "a", "\"\"", "W/"] { #expect(!tags.contains(tag), "\(tag)") }
    }

    @Test func aStarIsEveryVersion() {
        #expect(EntityTags("*").contains("\"x\""))
        #expect(!EntityTags("").contains("\"x\""))
    }
}
