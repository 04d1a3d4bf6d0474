#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataCore
import RelataPostgres
import Testing

private enum OpenSSL {
    static let isInstalled = ["/usr/bin/openssl", "/opt/homebrew/bin/openssl", "/usr/local/bin/openssl"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }
}

/// TLS between a store and its server, as the parameters of libpq in the URL say.
@Suite(
    .enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)),
    .enabled(if: OpenSSL.isInstalled, "openssl isn't installed"))
struct EncryptedConnectionTests {
    /// A port of the loopback interface that nobody listens to.
    private func freePort() throws -> Int {
        let server = try SilentServer()
        server.stop()
        return Int(server.port)
    }

    /// Creates a key and a certificate for it; the server runs what makes them, as its own user.
    private func certificate(_ name: String, _ session: Session) throws {
        try session.run(
            """
            COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; umask 077; openssl req -x509 -newkey ec -pkeyopt \
            ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=relata -addext subjectAltName=IP:127.0.0.1 \
            -keyout \(name).key -out \(name).crt'
            """)
    }

    @Test func certificatesAreCheckedAsTheURLSays() async throws {
        let cluster = try PrivateCluster()
        let session = try Session(PostgresURL(cluster.url()))
        try certificate("server", session)
        try certificate("other", session)
        try session.run(
            "COPY (SELECT 'hostssl all all 127.0.0.1/32 trust') TO PROGRAM 'cat >>pg_hba.conf'")
        let port = try freePort()
        for setting in [
            "ssl = on", "ssl_cert_file = 'server.crt'", "ssl_key_file = 'server.key'",
            "listen_addresses = '127.0.0.1'", "port = \(port)",
        ] {
            try session.run("ALTER SYSTEM SET \(setting)")
        }
        session.close()
        try cluster.stopServer()
        try cluster.start()
        func url(_ parameters: String) -> String { "postgresql://postgres@127.0.0.1:\(port)/postgres?\(parameters)" }
        func root(_ name: String) -> String { "sslmode=verify-full&sslrootcert=\(cluster.data)/\(name).crt" }
        let store = try await Store.open(url(root("server")), for: Genre.self)
        let encrypted = try await store.rows(
            "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        #expect(encrypted == [[.integer(1)]])
        try await store.save(Genre(name: "kept secret"))
        #expect(try await store.count(Genre.all) == 1)
        try store.close()
        let wrong = await thrown { try await Store.open(url(root("other")), for: Genre.self) }
        #expect(wrong?.kind == "fileAccess" && wrong.map { "\($0)" }?.contains("certificate") == true)
        let plain = await thrown { try await Store.open(url("sslmode=disable"), for: Genre.self) }
        #expect(plain?.kind == "fileAccess" && plain.map { "\($0)" }?.contains("127.0.0.1") == true)
    }
}
#endif
