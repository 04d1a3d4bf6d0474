/// The SQL that an engine speaks, where engines differ.
public enum Dialect: Sendable {
    case sqlite
    case postgres

    /// A name as an identifier: in double quotes, with those inside doubled, so that keywords, spaces and quotes in
    /// names are just names.
    public func quote(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}
