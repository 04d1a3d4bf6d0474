#if Server
import Foundation
import RelataParse

/// A mail address, with an optional name.
struct MailAddress: Hashable, Sendable {
    /// The part between the angle brackets.
    let path: String
    let name: String?

    /// Reads `library@example.org`, or `Library <library@example.org>`.
    ///
    /// - Throws: ``MailError`` for an invalid address, and for a text that could be read as several.
    init(_ text: String) throws(MailError) {
        if text.last == ">", let start = text.lastIndex(of: "<") {
            path = String(text[text.index(after: start)...].dropLast())
            let name = text[..<start].trimmingCharacters(in: CharacterSet(charactersIn: " \""))
            self.name = name.isEmpty ? nil : name
        } else {
            (path, name) = (text, nil)
        }
        let parts = path.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].utf8.count), (1...255).contains(parts[1].utf8.count),
            parts[0].unicodeScalars.allSatisfy({
                Self.isPlain($0) || "!#$%&'*+-/=?^_`{|}~.".unicodeScalars.contains($0)
            }),
            parts[1].unicodeScalars.allSatisfy({ Self.isPlain($0) || "-._:[]".unicodeScalars.contains($0) })
        else { throw MailError("mail can't be sent to this address: \(Self.shown(text))") }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case ...0x9F: false
        default: scalar.properties.isXIDContinue
        }
    }

    private static func shown(_ text: String) -> String {
        String(text.unicodeScalars.prefix(64).map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }

    var domain: String { String(path.split(separator: "@").last ?? "localhost") }
    var isASCII: Bool { path.utf8.allSatisfy { $0 < 0x80 } }

    /// The address in the form for a mail's header.
    var field: String { name.map { "\(HeaderText.phrase($0)) <\(path)>" } ?? "<\(path)>" }
}

/// Text in the header of a mail.
enum HeaderText {
    /// A text as one line. Characters other than ASCII are encoded, in words of at most 75 bytes.
    static func encoded(_ text: String) -> String {
        let line = String(
            text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
        let isPlain = line.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !line.contains("=?")
        if isPlain, line.utf8.count <= 200 { return line }
        var words: [[UInt8]] = [[]]
        for character in line {
            // A word ends between characters, so that each can be displayed separately.
            for scalar in character.unicodeScalars {
                let bytes = Array(String(scalar).utf8)
                if words[words.count - 1].count + bytes.count > 42 { words.append([]) }
                words[words.count - 1] += bytes
            }
        }
        return words.map { "=?UTF-8?B?\(Data($0).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }

    /// The encoded name before an address.
    static func phrase(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x20 || byte == 0x2D
        }
        if isPlain { return name }
        let isQuotable = name.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
        return isQuotable ? "\"\(name)\"" : encoded(name)
    }
}

/// The encoded form of a mail.
struct MailMessage: Sendable {
    let sender: MailAddress
    let recipient: MailAddress
    /// Header and body, with the line that ends them.
    let data: [UInt8]

    /// - Throws: ``MailError`` for an invalid recipient.
    init(_ mail: Mail, from sender: MailAddress, date: Date = Date()) throws(MailError) {
        recipient = try MailAddress(mail.address)
        self.sender = sender
        let (coding, body) = Self.body(mail.text)
        let head = [
            "From: \(sender.field)", "To: \(recipient.field)", "Subject: \(HeaderText.encoded(mail.subject))",
            "Date: \(Self.text(date))", "Message-ID: <\(UUID().uuidString.lowercased())@\(sender.domain)>",
            "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: \(coding)",
            // Automatic replies aren't wanted.
            "Auto-Submitted: auto-generated",
        ]
        data = Array(
            (head + [""] + body.map { $0.first == "." ? "." + $0 : $0 } + [".", ""]).joined(separator: "\r\n").utf8)
    }

    /// Whether an address contains characters other than ASCII.
    var needsUnicode: Bool { !sender.isASCII || !recipient.isASCII }

    /// The lines of a text, unchanged if every mail server accepts them, otherwise encoded.
    private static func body(_ text: String) -> (coding: String, lines: [String]) {
        let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let isPlain = lines.allSatisfy { line in
            line.utf8.count <= 900 && line.utf8.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 0x09 }
        }
        if isPlain { return ("7bit", lines) }
        let encoded = Data(lines.joined(separator: "\r\n").utf8)
            .base64EncodedString(options: [.lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed])
        return ("base64", encoded.components(separatedBy: "\r\n"))
    }

    /// `Fri, 27 Nov 2026 07:13:24 +0000`
    private static func text(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss '+0000'"
        return formatter.string(from: date)
    }
}
#endif
