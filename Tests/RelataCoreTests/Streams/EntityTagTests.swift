import RelataCore
import Testing

@Suite struct EntityTagTests {
    @Test func anEntityTagInTheClientsListMatches() {
        let tags = EntityTags(" \"a\", W/\"b\" ,\t\"c\"")
        for tag in ["\"a\"", "\"b\"", "W/\"a\"", "W/\"b\"", "\"c\""] { #expect(tags.contains(tag), "\(tag)") }
        for tag in ["\"d\"", "a", "\"\"", "W/"] { #expect(!tags.contains(tag), "\(tag)") }
    }

    @Test func aStarMatchesEveryEntityTag() {
        #expect(EntityTags("*").contains("\"x\""))
        #expect(!EntityTags("").contains("\"x\""))
    }
}
