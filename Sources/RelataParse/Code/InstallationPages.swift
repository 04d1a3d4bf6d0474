/// Installations that meet a condition, a page at a time; ``CloudStore/installations(where:keys:)`` makes it.
public struct InstallationPages: AsyncSequence, Sendable {
    /// The number of installations of a page, if the server's `maximumLimit` isn't less.
    private static let size = 1000

    let store: CloudStore
    let condition: JSONObject
    let keys: [String]?

    /// Begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: self) }

    /// Reads the pages one after the other, each when it is asked for.
    public struct Iterator: AsyncIteratorProtocol {
        let pages: InstallationPages
        /// The id of the last installation of the page before.
        var last: String?
        var isOver = false

        /// The next page; `nil` after the last one.
        ///
        /// - Throws: ``ParseError``, as a client would get it. After that, it returns `nil`.
        public mutating func next() async throws -> [JSONObject]? {
            if isOver { return nil }
            isOver = true
            let page = try await pages.page(after: last)
            guard let final = page.last else { return nil }
            guard let id = final["objectId"]?.string else {
                throw ParseError(.missingObjectID, "a hook has removed the objectId of an installation")
            }
            (last, isOver) = (id, false)
            return page
        }
    }

    private func page(after last: String?) async throws -> [JSONObject] {
        var condition = condition
        if let last { condition = ["$and": [.object(condition), ["objectId": ["$gt": .string(last)]]]] }
        return try await store.find(
            InstallationClass.name, where: condition, order: "objectId", limit: Self.size, keys: keys)
    }
}

extension CloudStore {
    /// The installations that meet a condition, a page at a time and in the order of their ids. Only one page is in
    /// memory, so there may be any number.
    ///
    /// ```swift
    /// for try await page in call.asMaster.installations(where: push.audience) { … }
    /// ```
    ///
    /// - Parameters:
    ///   - condition: Parse's `where`.
    ///   - keys: The fields that are read; `nil` for all.
    public func installations(where condition: JSONObject = [:], keys: [String]? = nil) -> InstallationPages {
        InstallationPages(store: self, condition: condition, keys: keys)
    }
}
