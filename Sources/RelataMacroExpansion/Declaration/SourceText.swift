import SwiftSyntax

extension SyntaxProtocol {
    /// The source of the node without the space and the comments around it.
    ///
    /// Not `trimmedDescription`, which copies the node twice: that was more than a quarter of the macro's time.
    var sourceText: String {
        let bytes = syntaxTextBytes.dropFirst(leadingTriviaLength.utf8Length)
        return String(decoding: bytes.dropLast(trailingTriviaLength.utf8Length), as: UTF8.self)
    }
}
