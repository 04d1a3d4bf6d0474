import Relata

#if SQLCipher
extension Engine {
    /// Encrypted files. Their key is one from which nothing is derived, so that each of some thousand tests opens at once.
    static let sqliteEncrypted: [Engine] = [
        Engine(name: "sqliteEncrypted", isShared: true) { database, models, options in
            var options = options
            options.encryptionKey = try EncryptionKey(bytes: 1...32)
            return try TestStore.open(TestStore.path(in: database), for: models, options: options)
        }
    ]
}
#else
extension Engine {
    /// Encrypted files, for which this build has no library.
    static let sqliteEncrypted: [Engine] = []
}
#endif
