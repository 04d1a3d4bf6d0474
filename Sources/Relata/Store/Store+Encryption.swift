#if SQLCipher
import RelataCore
import RelataSQLite

/// Encrypted files: other keys for them, and copies with other keys.
extension Store {
    /// Encrypts a file with another key. After a power cut, the file has either the old or the new key.
    ///
    /// It takes as long as writing the whole file. The file must not be open elsewhere.
    ///
    /// - Throws: ``RelataError/wrongKey(path:)`` and ``RelataError/notEncrypted(path:)`` for a wrong old key;
    ///   ``RelataError/busy(_:)`` if a store is open on the file. Then it is unchanged.
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
    /// The copy is a consistent snapshot, and the file may be in use. A failed copy leaves no file.
    ///
    /// - Parameters:
    ///   - path: The file, which stays unchanged.
    ///   - key: Its key; `nil` for a plain file.
    ///   - copy: The file to create.
    ///   - newKey: The key of the copy; `nil` for a plain copy.
    /// - Throws: ``RelataError/wrongKey(path:)`` and ``RelataError/notEncrypted(path:)`` for a wrong key;
    ///   ``RelataError/fileAccess(path:_:)`` if the copy already exists.
    public static func copy(
        _ path: String, key: EncryptionKey?, to copy: String, key newKey: EncryptionKey?
    ) throws(RelataError) {
        try EncryptedFile.copy(path, key: key, to: copy, key: newKey)
    }
}
#endif
