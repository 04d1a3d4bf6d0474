#if SQLCipher
import RelataCore
import RelataSQLite

/// Encrypted files: other keys for them, and copies with other keys.
extension Store {
    /// Encrypts a file with another key. Whenever the power is cut, the file has either the one or the other.
    ///
    /// It takes as long as to write the whole file. Nobody may have it open meanwhile.
    ///
    /// - Throws: ``RelataError/wrongKey(path:)`` and ``RelataError/notEncrypted(path:)`` where the old key isn't that of
    ///   the file; ``RelataError/busy(_:)`` where a store is open on it. Then it is as it was.
    public static func changeKey(
        of path: String, from old: EncryptionKey, to new: EncryptionKey
    ) throws(RelataError) {
        try EncryptedFile.changeKey(of: path, from: old, to: new)
    }

    /// Copies a file into a new one with another key: encrypts a plain file, or makes a plain copy of an encrypted one.
    ///
    /// ```swift
    /// try Store.copy("library.sqlite", key: nil, to: "encrypted.sqlite", key: key)
    /// ```
    ///
    /// The copy is of one moment, and others may go on using the file. A copy that fails leaves no file.
    ///
    /// - Parameters:
    ///   - path: The file, which stays as it is.
    ///   - key: What it is encrypted with; `nil` if it is plain.
    ///   - copy: The file to be made.
    ///   - newKey: What the copy is encrypted with; `nil` for a plain copy.
    /// - Throws: ``RelataError/wrongKey(path:)`` and ``RelataError/notEncrypted(path:)`` where the key isn't that of the
    ///   file; ``RelataError/fileAccess(path:_:)`` where the copy exists already.
    public static func copy(
        _ path: String, key: EncryptionKey?, to copy: String, key newKey: EncryptionKey?
    ) throws(RelataError) {
        try EncryptedFile.copy(path, key: key, to: copy, key: newKey)
    }
}
#endif
