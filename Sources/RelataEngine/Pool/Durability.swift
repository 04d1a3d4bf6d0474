/// The guarantee for committed transactions if the power fails. The end of a process never loses one, and neither
/// damages the file.
public enum Durability: Sendable {
    /// A power cut may lose the last transactions that were acknowledged. The default, and SQLite's advice for WAL.
    case normal
    /// A transaction that was acknowledged survives a power cut; each waits for the disk.
    case full
}
