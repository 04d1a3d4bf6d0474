#if CommandLineTool && Server
import Foundation
import Logging
import RelataCore
import RelataEngines
import RelataParse
import RelataServer

/// The database, settings and audit of a subcommand of `relata user`.
struct UserWork {
    let desk: UserDesk
    private let audit: AuditLog

    /// Opens the database, runs `body`, and closes it.
    ///
    /// - Parameters:
    ///   - asksPassword: Whether a password is read first and passed to `body`.
    ///   - name: A user that must exist before a password is asked for.
    static func run(
        _ arguments: UserArguments, isReadOnly: Bool = false, asksPassword: Bool = false,
        checking name: String? = nil,
        _ body: (UserWork, _ password: String) async throws -> Void
    ) async throws {
        let settings = try ServeSettings(
            flags: [:], environment: ProcessInfo.processInfo.environment,
            configurationFile: arguments.config)
        var options = ParseService.Options()
        options.secrets = ScryptSecrets()
        try settings.setPasswords(of: &options)
        try options.passwords.check()
        let path = settings.text(.audit)
        if let path { try AuditLog.check(path) }
        let store = try store(arguments.source.file, isReadOnly: isReadOnly)
        defer { try? store.close() }
        let work = UserWork(
            desk: UserDesk(store, options: options),
            audit: AuditLog(path, logger: Logger(label: "relata") { _ in SwiftLogNoOpLogHandler() }))
        do {
            if let name { _ = try await work.desk.account(name) }
            try await body(work, asksPassword ? try PasswordInput.read() : "")
        } catch let error as ParseError {
            throw RelataError.invalidUse(error.message)
        }
    }

    /// Writes an action to the audit.
    func note(_ action: String) {
        audit.add(
            AuditLog.Entry(
                session: "relata user, by \(NSUserName())", peer: "", action: String(action.prefix(512)),
                status: 200),
            isLogged: false)
    }

    private static func store(_ path: String, isReadOnly: Bool) throws -> ParseStore {
        let location = try DatabaseLocation(path)
        guard location.isServer else { return try SchemaSource.store(path, isReadOnly: isReadOnly) }
        return try ParseStore.open(path, mode: .production)
    }
}

/// A password from the terminal, or from standard input.
enum PasswordInput {
    /// - Parameters:
    ///   - question: The prompt on a terminal.
    ///   - what: The name of the secret in messages.
    ///   - again: Whether it must be typed twice on a terminal.
    /// - Throws: `RelataError` for no password, or for two that differ.
    static func read(
        _ question: String = "Password: ", what: String = "password", again: Bool = true
    ) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { return try checked(line(), what) }
        let password = try checked(asked(question), what)
        guard try !again || asked("Again: ") == Array(password.utf8) else {
            throw RelataError.invalidUse("the \(what)s differ: nothing was changed")
        }
        return password
    }

    private static func checked(_ password: [UInt8]?, _ what: String) throws -> String {
        guard let password, !password.isEmpty else {
            throw RelataError.invalidUse(
                "there is no \(what): write it to standard input, as its first line")
        }
        guard !password.contains(0) else {
            throw RelataError.invalidUse("the \(what) on standard input contains U+0000: write one without")
        }
        guard let text = String(validating: password, as: UTF8.self) else {
            throw RelataError.invalidUse("the \(what) on standard input isn't UTF-8: write it in this encoding")
        }
        return text
    }

    /// Reads a line from the terminal without showing it.
    private static func asked(_ question: String) throws -> [UInt8]? {
        var usual = termios()
        guard tcgetattr(STDIN_FILENO, &usual) == 0 else {
            Console.write(question)
            return line()
        }
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &usual)
            Console.write("\n")
        }
        // An answer that is typed before this would be visible, and discarded.
        Console.write(question)
        return line()
    }

    /// The next line of standard input, without its end; `nil` if there is none. `readLine` would replace what isn't
    /// UTF-8.
    private static func line() -> [UInt8]? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = Foundation.read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return line.isEmpty ? nil : line }
            if byte == UInt8(ascii: "\n") { break }
            line.append(byte)
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }
}
#endif
