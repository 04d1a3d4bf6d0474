#if SQLCipher
import Foundation
import Relata
import Testing

@Model struct Entry {
    let id: ID<Entry>
    var text: String
}

@Test func encryption() async throws {
    try await example {
        var options = Store.Options()
        options.encryptionKey = try EncryptionKey(passphrase: "correct horse battery staple")
        let diary = try await Store.open(temporary("diary.sqlite"), for: Entry.self, options: options)
        try await diary.save(Entry(text: "Nobody reads this."))
        // docs: hide
        let passphrase = try #require(options.encryptionKey)
        // docs: show
        do {
            var options = Store.Options()
            options.encryptionKey = try EncryptionKey(passphrase: "a guess")
            _ = try await Store.open(temporary("diary.sqlite"), for: Entry.self, options: options)
        } catch RelataError.wrongKey {
            print("that is not the key")
        }
        // docs: hide
        try printed(in: "Documentation/Encryption.md")
        try diary.close()
        // docs: show
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        let key = try EncryptionKey(bytes: bytes)
        // docs: hide
        try await Store.open(temporary("notes.sqlite"), for: Entry.self).close()
        // docs: show
        try Store.copy(temporary("notes.sqlite"), key: nil, to: temporary("encrypted.sqlite"), key: key)
        try Store.changeKey(of: temporary("diary.sqlite"), from: passphrase, to: key)
        // docs: hide
        options.encryptionKey = key
        for name in ["diary.sqlite", "encrypted.sqlite"] {
            let store = try await Store.open(temporary(name), for: Entry.self, options: options)
            #expect(try await store.count(Entry.all) == (name == "diary.sqlite" ? 1 : 0))
            try store.close()
        }
    }
}
#endif
