/// The progress of a backup.
public struct BackupProgress: Hashable, Sendable {
    /// The number of copied pages of the file.
    public let copiedPages: Int
    /// The number of pages the file has. It grows while others write, if the file has no write-ahead log.
    public let pages: Int

    /// The progress of a backup.
    package init(copiedPages: Int, pages: Int) {
        self.copiedPages = copiedPages
        self.pages = pages
    }

    /// The part that is copied, from 0 to 1.
    public var fraction: Double { pages == 0 ? 1 : Double(copiedPages) / Double(pages) }
}
