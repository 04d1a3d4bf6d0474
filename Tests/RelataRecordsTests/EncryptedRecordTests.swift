#if SQLCipher
import Foundation
import RelataRecords
import TestSupport
import Testing

/// Stores of records in encrypted files.
@Suite struct EncryptedRecordTests {
    @Test func onlyItsKeyOpensAStore() async throws {
        let file = try TemporaryFile()
        var options = RecordStore.Options()
        options.encryptionKey = try EncryptionKey(passphrase: "ursula")
        var store = try RecordStore.open(file.path, options: options)
        try await store.save(Record("Book", ["title": "A"]))
        try store.close()
        store = try RecordStore.open(file.path, options: options)
        #expect(try await store.fetch(RecordQuery("Book")).count == 1)
        try store.close()
        options.encryptionKey = try EncryptionKey(passphrase: "kroeber")
        #expect {
            try RecordStore.open(file.path, options: options)
        } throws: {
            if case RelataError.wrongKey(file.path) = $0 { true } else { false }
        }
        #expect {
            try RecordStore.open(file.path)
        } throws: {
            if case RelataError.corruptStore = $0 { true } else { false }
        }
    }
}
#endif
