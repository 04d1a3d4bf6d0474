import Foundation
import RelataCore

/// The tool's messages and questions, as opposed to its output.
enum Console {
    /// Writes an error in one line, regardless of line breaks in the message.
    static func fail(_ message: String) {
        let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        write("relata: \(DisplayText.visible(line))\n")
    }

    /// Writes text beside the output.
    static func write(_ text: String) {
        // Earlier output comes first.
        fflush(nil)
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Whether standard error is a terminal.
    static var isTerminal: Bool { isatty(2) == 1 }

    /// Asks a question, which is answered with no unless with yes.
    static func confirm(_ question: String) -> Bool {
        write("\(question) [y/N] ")
        let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased()
        // Without an answer the cursor is still on the question's line.
        if answer == nil { write("\n") }
        return answer == "y" || answer == "yes"
    }
}
