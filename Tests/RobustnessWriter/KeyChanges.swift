#if SQLCipher
import Relata

/// A file that gets one key after the other, for the tests to interrupt.
public enum KeyChanges {
    /// A key of the row of keys: every fourth is a passphrase, whose salt is in the file and changes with it.
    public static func key(_ number: Int) throws -> EncryptionKey {
        number % 4 == 3
            ? try EncryptionKey(passphrase: "key \(number)")
            : try EncryptionKey(bytes: repeatElement(UInt8(truncatingIfNeeded: number), count: 32))
    }

    /// Prints the number of the file's key, and then the number of each next key as soon as the file has it.
    static func change(_ path: String, from first: Int, say: (Any) -> Void) throws {
        for number in first... {
            say(number)
            try Store.changeKey(of: path, from: key(number), to: key(number + 1))
        }
    }
}
#endif
