import RelataCore

/// The key of an encrypted file: a passphrase, or 32 bytes that are the key itself.
///
/// Its description and its mirror don't contain it, so logs and messages don't either.
public struct EncryptionKey: Equatable, Sendable {
    /// The key in SQLCipher's form: a passphrase in UTF-8, or the digits of the bytes in a literal.
    let bytes: [UInt8]

    /// A passphrase, as its characters are written: another Unicode composition of a letter is another key.
    ///
    /// Each connection derives the key from it, which takes a tenth of a second or more by design.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an empty passphrase, and one in SQLCipher's notation of bytes.
    public init(passphrase: String) throws(RelataError) {
        guard !passphrase.isEmpty else {
            throw .invalidUse("an empty passphrase encrypts nothing: give one, or open the file without a key")
        }
        bytes = Array(passphrase.utf8)
        guard !Self.isLiteral(bytes) else {
            throw .invalidUse(
                "SQLCipher takes a passphrase of the form x'…' for bytes: give the bytes themselves, or choose another")
        }
    }

    /// The key itself, from a generator of random numbers: nothing is derived from it, so that connections open at
    /// once.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for another number of bytes than 32.
    public init(bytes: some Sequence<UInt8>) throws(RelataError) {
        let raw = Array(bytes)
        guard raw.count == 32 else { throw .invalidUse("a key is 32 bytes long, and these are \(raw.count)") }
        let digits = Array("0123456789abcdef".utf8)
        self.bytes =
            Array("x'".utf8) + raw.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] } + Array("'".utf8)
    }

    /// Whether SQLCipher reads it as the bytes of a key, with those of a salt or without.
    private static func isLiteral(_ bytes: [UInt8]) -> Bool {
        [64, 96].contains(bytes.count - 3) && ["x'", "X'"].contains(String(decoding: bytes.prefix(2), as: UTF8.self))
            && bytes.dropFirst(2).dropLast().allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }
}

extension EncryptionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text, which reveals nothing of the key.
    public var description: String { "EncryptionKey(hidden)" }
    /// A fixed text, which reveals nothing of the key.
    public var debugDescription: String { description }
    /// Shows nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
