/// Text in a diagram.
enum DiagramText {
    /// The text as XML holds it. Characters that XML can't hold become `U+FFFD`.
    static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
            case "\t", "\n", "\r", " "...: result.append(isXML(scalar) ? scalar : "\u{FFFD}")
            default: result.append("\u{FFFD}")
            }
        }
        return String(result)
    }

    private static func isXML(_ scalar: Unicode.Scalar) -> Bool { scalar.value != 0xFFFE && scalar.value != 0xFFFF }
}
