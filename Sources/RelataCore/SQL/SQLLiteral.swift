import Foundation

extension Value {
    /// Reads a constant in SQL notation: `7`, `-1.5`, `'it''s'`, `x'0aff'`, `NULL`, `TRUE`; `nil` for anything else,
    /// such as `CURRENT_TIMESTAMP`.
    init?(literal text: String) {
        var text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        while text.hasPrefix("("), text.hasSuffix(")") {
            text = text.dropFirst().dropLast().trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let upper = text.uppercased()
        if upper == "NULL" {
            self = .null
        } else if upper == "TRUE" || upper == "FALSE" {
            self = .integer(upper == "TRUE" ? 1 : 0)
        } else if let integer = Int64(text) {
            self = .integer(integer)
        } else if text.first?.isLetter == false, let real = Double(text) {
            self = .real(real)
        } else if let quote = text.first, quote == "'" || quote == "\"", text.count > 1, text.last == quote {
            let inner = String(text.dropFirst().dropLast())
            guard !inner.replacing("\(quote)\(quote)", with: "").contains(quote) else { return nil }
            self = .text(inner.replacing("\(quote)\(quote)", with: "\(quote)"))
        } else if upper.hasPrefix("X'"), text.hasSuffix("'"), let data = Data(hexadecimal: text.dropFirst(2).dropLast())
        {
            self = .blob(data)
        } else {
            return nil
        }
    }
}

extension Data {
    /// The bytes that hexadecimal digits, two a byte, spell; `nil` if they don't.
    init?(hexadecimal text: some StringProtocol) {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        self.init(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}
