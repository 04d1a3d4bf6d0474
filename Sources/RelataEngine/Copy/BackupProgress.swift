/// How far a backup is.
public struct BackupProgress: Hashable, Sendable {
    /// How many pages of the file are copied.
    public let copiedPages: Int
    /// How many pages the file has. It grows while others write, if the file has no write-ahead log.
    public let pages: Int

    /// How far a backup is.
    package init(copiedPages: Int, pages: Int) {
        self.copiedPages = copiedPages
        self.pages = pages
    }

    /// The part that is copied, from 0 to 1.
    public var fraction: Double { pages == 0 ? 1 : Double(copiedPages) / Double(pages) }
}
