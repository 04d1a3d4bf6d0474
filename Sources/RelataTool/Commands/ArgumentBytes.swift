#if CommandLineTool
/// The arguments as they were given. Swift replaces invalid UTF-8 by U+FFFD, which would change names of files.
enum ArgumentBytes {
    /// The problem of the arguments; `nil` for none.
    static var problem: String? {
        let texts = CommandLine.arguments
        for number in texts.indices.dropFirst() where number < Int(CommandLine.argc) {
            guard let bytes = CommandLine.unsafeArgv[number], String(validatingCString: bytes) == nil else { continue }
            let (text, before) = (texts[number], texts[number - 1])
            let name =
                if text.hasPrefix("--") {
                    "the value of \(text.prefix { $0 != "=" })"
                } else if before.hasPrefix("--"), before.count > 2 {
                    "the argument after \(before), \(text),"
                } else {
                    "the argument \(text)"
                }
            return "\(name) isn't UTF-8: write it in this encoding"
        }
        return nil
    }
}
#endif
