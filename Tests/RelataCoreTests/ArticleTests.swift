import RelataCore
import Testing

/// The article before a name in a message.
@Suite struct ArticleTests {
    @Test(arguments: [
        "an Album", "an index", "an Event", "an Order", "an Update", "an Item", "an _Installation", "an Int", "an Up",
        "a Book", "a User", "a _User", "a UUID", "a Unit", "a European", "a OneTime", "a view", "a Zebra", "a 7", "a ",
    ])
    func articlesFollowPronunciation(_ text: String) {
        let name = String(text[text.index(after: text.firstIndex(of: " ") ?? text.startIndex)...])
        #expect(name.withArticle == text)
    }
}
