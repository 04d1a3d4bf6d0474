#if Server
import RelataServer
import Testing

/// The hashes of passwords.
@Suite struct ScryptSecretsTests {
    private let secrets = ScryptSecrets(cost: 10)

    @Test func aPasswordMatchesOnlyItsHash() async throws {
        let hash = try await secrets.hash(of: "secret")
        #expect(hash.hasPrefix("scrypt$10$8$1$") && !hash.contains("secret"))
        #expect(try await secrets.hash(of: "secret") != hash)
        #expect(try await secrets.matches("secret", hash))
        for wrong in ["", "Secret", "secret ", "secreté"] { #expect(try await !secrets.matches(wrong, hash)) }
    }

    @Test func aHashContainsItsCost() async throws {
        let old = try await ScryptSecrets(cost: 11).hash(of: "secret")
        #expect(try await secrets.matches("secret", old))
    }

    @Test func differentCompositionsOfAPasswordAreEqual() async throws {
        let hash = try await secrets.hash(of: "caf\u{E9}")
        #expect(try await secrets.matches("cafe\u{301}", hash))
    }

    @Test(arguments: [
        "", "secret", "scrypt$10$8$1$$", "scrypt$99$8$1$AAAA$AAAA", "scrypt$10$8$9$AAAA$AAAA", "scrypt$10$8$1$?$?",
        "bcrypt$10$8$1$AAAA$AAAA",
    ])
    func anInvalidHashMatchesNothing(hash: String) async throws {
        #expect(try await !secrets.matches("secret", hash))
    }

    #if os(Linux)
    @Test(arguments: [
        ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
        ("secret of mei", "$2b$04$abcdefghijklmnopqrstuuR3dMtAP7VxjyITC9nfr10gOYSlveDdy"),
        ("p\u{E4}ssw\u{F6}rt", "$2y$04$abcdefghijklmnopqrstuu1cDoLWDR/WUf1WNLV3Klgn6BEq1nueu"),
    ])
    func aHashByBcryptIsComparedAndForeign(_ password: String, _ hash: String) async throws {
        #expect(try await secrets.matches(password, hash))
        #expect(secrets.isForeign(hash))
        for wrong in ["", password + "x", password.uppercased() + "!"] {
            #expect(try await !secrets.matches(wrong, hash))
        }
        #expect(try await !secrets.matches(password, String(hash.dropLast()) + "."))
    }
    #endif

    @Test func ownHashesAreRecognized() async throws {
        let hash = try await secrets.hash(of: "secret")
        #expect(!secrets.isForeign(hash))
        #expect(!secrets.isForeign("") && !secrets.isForeign("$2b$10$"))
    }

    @Test func concurrentHashesAreSerialized() async throws {
        let hash = try await secrets.hash(of: "secret")
        let count = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask { try await secrets.matches(number % 2 == 0 ? "secret" : "other", hash) }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(count == 20)
    }

    @Test func aDigestIsAlwaysTheSame() {
        #expect(secrets.digest(of: "a") == ScryptSecrets().digest(of: "a") && secrets.digest(of: "a").count == 32)
        #expect(secrets.digest(of: "a") != secrets.digest(of: "b"))
    }
}
#endif
