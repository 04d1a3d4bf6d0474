import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Keys of encrypted files, which need no library that encrypts.
@Suite struct EncryptionKeyTests {
    private func refusal(_ body: () throws -> EncryptionKey) -> String {
        do {
            return "accepted \(try body())"
        } catch RelataError.invalidUse(let text) {
            return text
        } catch {
            return "\(error)"
        }
    }

    @Test func emptyPassphrasesAreRefused() {
        #expect(refusal { try EncryptionKey(passphrase: "") }.contains("an empty passphrase encrypts nothing"))
    }

    @Test func passphrasesInTheNotationOfBytesAreRefused() throws {
        for (letter, count) in [("x", 64), ("X", 64), ("x", 96), ("X", 96)] {
            for digit in ["0", "f", "F"] {
                let passphrase = "\(letter)'\(String(repeating: digit, count: count))'"
                #expect(refusal { try EncryptionKey(passphrase: passphrase) }.contains("of the form x'…'"))
            }
        }
        // SQLCipher takes these for text.
        for passphrase in [
            "x", "x''", "x'\(String(repeating: "0", count: 63))'", "x'\(String(repeating: "g", count: 64))'",
            "y'\(String(repeating: "0", count: 64))'", "x'\(String(repeating: "é", count: 32))'",
        ] {
            #expect(throws: Never.self) { try EncryptionKey(passphrase: passphrase) }
        }
    }

    @Test func bytesMustBeThirtyTwo() throws {
        for count in [0, 31, 33] {
            let text = refusal { try EncryptionKey(bytes: Data(repeating: 7, count: count)) }
            #expect(text == "a key is 32 bytes long, and these are \(count)")
        }
        #expect(try EncryptionKey(bytes: 1...32) == EncryptionKey(bytes: Data(1...32)))
        #expect(try EncryptionKey(bytes: 1...32) != EncryptionKey(bytes: 2...33))
    }

    @Test func passphrasesAreComparedAsTheyAreWritten() throws {
        #expect(try EncryptionKey(passphrase: "caf\u{e9}") != EncryptionKey(passphrase: "cafe\u{301}"))
        #expect(try EncryptionKey(passphrase: "a") != EncryptionKey(passphrase: "A"))
    }

    @Test func descriptionsHideTheKey() throws {
        for key in [try EncryptionKey(passphrase: "Ursula"), try EncryptionKey(bytes: 1...32)] {
            var dumped = ""
            dump(["key": key as EncryptionKey?], to: &dumped)
            for text in ["\(key)", String(reflecting: key), "\([key])"] {
                #expect(text.contains("EncryptionKey(hidden)"))
            }
            // The bytes would be listed as numbers.
            #expect(dumped.contains("EncryptionKey(hidden)") && !dumped.contains("bytes"))
            #expect(Mirror(reflecting: key).children.isEmpty)
        }
    }

    #if !SQLCipher
    @Test func aFileWithAKeyNeedsALibraryThatEncrypts() throws {
        let (key, made, new) = (try EncryptionKey(bytes: 1...32), try TemporaryFile(), try TemporaryFile())
        try Connection(path: made.path).execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        let before = try Data(contentsOf: URL(fileURLWithPath: made.path))
        for path in [made.path, new.path] {
            let text = refusal {
                try Connection(path: path, key: key).close()
                return key
            }
            #expect(text == "\(path) has a key: encrypted files need the trait SQLCipher of the package Relata")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: made.path)) == before)
        #expect(!FileManager.default.fileExists(atPath: new.path))
    }
    #endif
}
