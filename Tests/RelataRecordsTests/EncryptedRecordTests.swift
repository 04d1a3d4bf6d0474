#if SQLCipher
import Foundation
import RelataRecords
import Testing

/// Stores of records in encrypted files.
@Suite struct EncryptedRecordTests {
    @Test func onlyItsKeyOpensAStore() async throws {
        let folder = try TemporaryFolder()
        var options = RecordStore.Options()
        options.encryptionKey = try EncryptionKey(passphrase: "ursula")
        var store = try RecordStore.open(folder.path(), options: options)
        try await store.save(Record("Book", ["title": "A"]))
        try store.close()
        store = try RecordStore.open(folder.path(), options: options)
        #expect(try await store.fetch(RecordQuery("Book")).count == 1)
        try store.close()
        options.encryptionKey = try EncryptionKey(passphrase: "kroeber")
        #expect {
            try RecordStore.open(folder.path(), options: options)
        } throws: {
            if case RelataError.wrongKey(folder.path()) = $0 { true } else { false }
        }
        #expect {
            try RecordStore.open(folder.path())
        } throws: {
            if case RelataError.corruptStore = $0 { true } else { false }
        }
    }
}
#endif
