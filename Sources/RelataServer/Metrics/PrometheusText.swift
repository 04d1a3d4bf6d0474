#if Server
/// Prometheus's text format, version 0.0.4.
struct PrometheusText {
    private(set) var text = ""

    mutating func begin(_ name: String, _ kind: PrometheusKind) {
        text += "# TYPE \(name) \(kind.type)\n"
    }

    mutating func line(_ name: String, _ labels: String, _ value: Double) {
        text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.number(value))\n"
    }

    /// A valid name: other characters become `_`.
    static func name(_ label: String) -> String {
        var name = String(label.unicodeScalars.map { isPlain($0) ? Character($0) : "_" })
        if name.first?.isNumber ?? true { name = "_" + name }
        return name
    }

    /// `method="GET",route="object"`, sorted by name.
    static func labels(_ dimensions: [(String, String)]) -> String {
        let sorted = dimensions.sorted { $0.0 < $1.0 }
        return sorted.map { "\(name($0.0))=\"\(escaped($0.1))\"" }.joined(separator: ",")
    }

    static func adding(_ name: String, _ value: String, to labels: String) -> String {
        labels + (labels.isEmpty ? "" : ",") + "\(name)=\"\(value)\""
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? value.description
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value.prefix(256) {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case _ where character.isNewline: text += "\\n"
            default: text.append(character)
            }
        }
        return text
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar == ":" || scalar.isASCII && scalar.properties.isAlphabetic
            || ("0"..."9").contains(scalar)
    }
}
#endif
