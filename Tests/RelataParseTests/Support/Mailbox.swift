import Foundation
import RelataCore
import Synchronization
import Testing

@testable import RelataParse

/// Collects the mails that a server sends.
final class Mailbox: MailSender {
    private struct State {
        var mails: [Mail] = []
        var taken = 0
        var failures: [any Error] = []
    }

    private let state = Mutex(State())

    func send(_ mail: Mail) async throws {
        try state.withLock { state in
            if !state.failures.isEmpty { throw state.failures.removeFirst() }
            state.mails.append(mail)
        }
    }

    /// Lets the next mails fail.
    func fail(with errors: any Error...) { state.withLock { $0.failures = errors } }

    /// The number of received mails.
    var count: Int { state.withLock { $0.mails.count } }

    /// The next mail. Waits if it hasn't arrived yet.
    func next() async throws -> Mail {
        for _ in 0..<4000 {
            let mail = state.withLock { state -> Mail? in
                guard state.taken < state.mails.count else { return nil }
                state.taken += 1
                return state.mails[state.taken - 1]
            }
            if let mail { return mail }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw TestServer.Refused(reply: "no mail came")
    }
}

extension Mail {
    /// The token in the link.
    var token: String { String(text.split(separator: "?token=").last?.prefix(while: \.isHexDigit) ?? "") }
    /// The link.
    var link: String { String(text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("http") } ?? "") }
}

extension TestServer {
    /// A server that sends mails, and its mailbox.
    static func withMail(
        path: String? = nil, trace: SQLStatements? = nil, _ configure: (inout ParseService.Options) -> Void = { _ in }
    ) throws -> (server: TestServer, mails: Mailbox) {
        let mails = Mailbox()
        let server = try withUsers(path: path, trace: trace) { options in
            var mail = MailOptions(mails, appName: "Library", publicURL: "https://books.example.org/parse")
            // If the next mail arrives, an earlier one wasn't sent.
            (mail.interval, mail.width, mail.retries) = (0, 1, [])
            options.mail = mail
            configure(&options)
        }
        return (server, mails)
    }

    /// Signs a user up with an address.
    func signUpWithAddress(_ name: String, _ more: JSONObject = [:]) async throws -> Person {
        var body: JSONObject = ["email": .string("\(name)@example.org")]
        body.merge(more)
        return try await signUp(name, body)
    }

    /// Requests a mail.
    @discardableResult
    func requestMail(_ address: String, path: String = "/requestPasswordReset", language: String? = nil) async throws
        -> Reply
    {
        try await send(
            "POST", path, ["email": .string(address)], headers: language.map { ["accept-language": $0] } ?? [:],
            isMaster: false)
    }

    /// A page, as a browser gets it.
    func page(
        _ method: String, _ name: String, _ fields: KeyValuePairs<String, String>, language: String? = nil,
        application: String = "app"
    ) async throws -> AccountPage {
        let text = fields.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }.joined(separator: "&")
        var request = WireRequest(method: method, path: "/apps/\(application)/\(name)")
        request.headers["accept-language"] = language
        if method == "GET" { request.query = text } else { request.body = Array(text.utf8) }
        return try #require(await service.page(for: request) { print("failed: \($0)") })
    }

    /// Sets a password through a link.
    func setPassword(_ password: String, by token: String) async throws -> AccountPage {
        try await page(
            "POST", "request_password_reset", ["token": token, "password": password, "again": password])
    }

    /// The contents of all tables, as text.
    func texts() async throws -> [String] {
        try await store.read(as: .master) { transaction in
            try transaction.schema.tables.flatMap { table in
                try transaction.connection.values(
                    SQLStatement("SELECT * FROM \(transaction.connection.dialect.quote(table.entity.table))")
                ).joined().map(\.description)
            }
        }
    }

    /// Tries to sign in.
    func logIn(_ name: String, _ password: String) async throws -> Reply {
        try await send(
            "POST", "/login", ["username": .string(name), "password": .string(password)], isMaster: false)
    }
}
